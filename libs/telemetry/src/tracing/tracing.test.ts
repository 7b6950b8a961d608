import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { noTracing, type TracingOptions } from "./api.ts";
import { startTracing } from "./tracing.ts";

const options = (collector: TracingOptions["collector"]): TracingOptions => ({
  ...{ service: "identity", version: "1.2.3", instance: "one" },
  collector,
  describeError: (error) => ({ name: (error as Error).name, isFailure: (error as Error).name !== "Answer" }),
  onProblem: () => undefined,
});

for (const endpoint of [undefined, "", "  "])
  test(`without a collector (${JSON.stringify(endpoint)}) nothing is recorded and work goes on`, async () => {
    const tracing = await startTracing(
      options(endpoint === undefined ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }),
    );
    assert.equal(tracing, noTracing);
    assert.equal(
      await tracing.run("work", { kind: "server" }, async (traceparent) => traceparent ?? "none"),
      "none",
    );
  });

for (const [name, value] of [
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://collector"],
  ["OTEL_TRACES_SAMPLER_ARG", "half"],
  ["OTEL_TRACES_SAMPLER_ARG", "1.5"],
] as const)
  test(`${name}=${value} stops the start with its name`, async () => {
    const given = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1", [name]: value };
    await assert.rejects(startTracing(options(given)), new RegExp(`^Error: ${name} is .*; it must be`));
  });

type Sent = {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  status: { code?: number };
};

async function collect(
  share: string,
  work: (tracing: Awaited<ReturnType<typeof startTracing>>) => Promise<void>,
) {
  const sent: Sent[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk) => (text += chunk));
    request.on("end", () => {
      for (const { scopeSpans } of JSON.parse(text).resourceSpans)
        sent.push(...scopeSpans.flatMap(({ spans }: { spans: Sent[] }) => spans));
      response.end("{}");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const given = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: share };
  const tracing = await startTracing(options(given));
  try {
    await work(tracing);
  } finally {
    await tracing.close();
    server.closeAllConnections();
    server.close();
  }
  return new Map(sent.map((span) => [span.name, span]));
}

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

test("spans go on with the trace of the caller, one below the other, also at the same time", async () => {
  const spans = await collect("0", async (tracing) => {
    const below = (name: string) =>
      tracing.run(name, { kind: "client" }, async () => tracing.record(`in ${name}`, { ms: 3 }));
    await tracing.run("outer", { kind: "server", parent }, async (traceparent) => {
      assert.equal(tracing.current(), traceparent);
      await Promise.all([below("one"), below("other")]);
    });
    assert.equal(tracing.current(), undefined);
  });
  assert.equal(spans.get("outer")?.parentSpanId, parent.split("-")[2]);
  for (const span of spans.values()) assert.equal(span.traceId, parent.split("-")[1]);
  for (const name of ["one", "other"]) {
    assert.equal(spans.get(name)?.parentSpanId, spans.get("outer")?.spanId);
    assert.equal(spans.get(`in ${name}`)?.parentSpanId, spans.get(name)?.spanId);
  }
});

test("a failure is the span's, an answer is not, and both reach the caller", async () => {
  const answer = Object.assign(new Error("not there"), { name: "Answer" });
  const spans = await collect("1", async (tracing) => {
    const fail = (name: string, error: Error) =>
      assert.rejects(
        tracing.run(name, { kind: "server" }, () => Promise.reject(error)),
        error,
      );
    await fail("answered", answer);
    await fail("failed", new Error("broken"));
  });
  assert.deepEqual(
    ["answered", "failed"].map((name) => spans.get(name)?.status.code ?? 0),
    [0, 2],
  );
});

test("a share of 0 sends no trace that begins here", async () => {
  const spans = await collect("0", async (tracing) => {
    await tracing.run("work", { kind: "server" }, async () => tracing.record("below", { ms: 1 }));
  });
  assert.equal(spans.size, 0);
});
