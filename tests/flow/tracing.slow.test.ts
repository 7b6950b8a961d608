// Traces of requests (docs/reference/tracing.md): one goes through HTTP, NATS, PostgreSQL and the Job that a request makes.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { type Answer, type Stack, startStack, withoutGame } from "./stack.ts";

type Attribute = { key: string; value: Record<string, unknown> };
type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Attribute[];
  status: { code?: number };
};
type Traces = {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: Span[] }[] }[];
};
type Seen = Span & { service: string };

const kinds = { server: 2, client: 3 };
const textOf = (attributes: readonly Attribute[], key: string) =>
  String(attributes.find((one) => one.key === key)?.value["stringValue"] ?? "");

/** Takes spans as a collector does: OTLP over HTTP in JSON. */
async function startCollector(): Promise<{ url: string; spans: Seen[]; server: Server }> {
  const spans: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      assert.deepEqual([request.method, request.url], ["POST", "/v1/traces"]);
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString()) as Traces;
      for (const { resource, scopeSpans } of resourceSpans) {
        const service = textOf(resource.attributes, "service.name");
        spans.push(...scopeSpans.flatMap((scope) => scope.spans.map((span) => ({ ...span, service }))));
      }
      response.setHeader("content-type", "application/json").end("{}");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, server };
}

const name = "traced";
const path = `/api/v1/servers/${name}`;
const secret = "a line that only its owner reads";

describe("a request", () => {
  let collector: Awaited<ReturnType<typeof startCollector>>;
  let stack: Stack;
  before(async () => {
    collector = await startCollector();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    stack = await startStack([...withoutGame, "--set", "lifecycle.wake_cooldown=0s"], undefined, { env });
    await stack.becomeOwner();
    await call("POST", "/api/v1/servers", { name, subdomain: name });
    await call("POST", `${path}/wake`);
    await reaches("Running");
    await call("POST", `${path}/stop`);
    await reaches("Stopped");
  });
  after(async () => {
    await stack?.stop();
    collector?.server.closeAllConnections();
    collector?.server.close();
  });

  async function call(method: string, where: string, body?: unknown): Promise<Answer> {
    const answer = await stack.external(method, where, body);
    assert.ok(answer.status < 300, `${method} ${where}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer;
  }

  const reaches = (phase: string) =>
    until(
      async () => ((await call("GET", `${path}/status`)).body as { phase: string }).phase === phase,
      60_000,
      phase,
    );

  /** The spans of the trace of a request, once they have all come. */
  async function traceOf(answer: Answer, isWhole: (spans: readonly Seen[]) => boolean): Promise<Seen[]> {
    const id = String(answer.headers["x-request-id"]);
    return until(
      () => {
        const root = collector.spans.find(
          (span) => span.service.startsWith("gateway") && textOf(span.attributes, "svc.request_id") === id,
        );
        const spans = collector.spans.filter(({ traceId }) => traceId === root?.traceId);
        return root && isWhole(spans) ? spans : undefined;
      },
      30_000,
      `the trace of ${id}`,
    );
  }

  /** Names of the spans from the root to one of them. */
  function wayTo(spans: readonly Seen[], last: Seen): string[] {
    const above = spans.find(({ spanId }) => spanId === last.parentSpanId);
    return [...(above ? wayTo(spans, above) : []), `${last.service} ${last.name}`];
  }

  test("is followed from the gateway to its owner and to the owner's database", async () => {
    const task = { action: "stop", minute_of_day: 180, weekdays: 127, timezone: "UTC", label: secret };
    const isStatement = (span: Seen) => span.service === "lifecycle" && span.name.startsWith("INSERT");
    const spans = await traceOf(await call("POST", `${path}/schedules`, task), (all) =>
      all.some(isStatement),
    );
    const insert = spans.find(isStatement);
    assert.ok(insert);
    assert.deepEqual(wayTo(spans, insert), [
      "gateway-external POST /api/v1/servers/{name}/schedules",
      "gateway-external call lifecycle.schedule.create",
      "lifecycle lifecycle.schedule.create",
      "lifecycle INSERT lifecycle",
    ]);
    assert.match(textOf(insert.attributes, "db.query.text"), /insert into/);
    assert.deepEqual(
      spans
        .filter(({ kind }) => kind === kinds.server)
        .map(({ service }) => service)
        .sort(),
      ["gateway-external", "lifecycle"],
    );
  });

  test("is followed into the Job that it makes, and back to the gateway where the Job fetches its bytes", async () => {
    const content = Buffer.from(secret);
    const begun = await call("POST", `${path}/files/uploads?path=note.txt`, { size: content.length });
    const { id } = begun.body as { id: string };
    const upload = `${path}/files/uploads/${id}`;
    const digest = createHash("sha256").update(content).digest("base64");
    const part = await stack.external("PUT", `${upload}?offset=0`, content, {
      "content-type": "application/octet-stream",
      "content-digest": `sha-256=:${digest}:`,
    });
    assert.equal(part.status, 200, JSON.stringify(part.body));
    const isFetch = (span: Seen) => span.service === "gateway-internal" && span.name.startsWith("GET");
    const spans = await traceOf(await call("POST", `${upload}/commit`, {}), (all) => all.some(isFetch));
    const fetched = spans.find(isFetch);
    assert.ok(fetched);
    assert.deepEqual(wayTo(spans, fetched), [
      "gateway-external POST /api/v1/servers/{name}/files/uploads/{id}/commit",
      "gateway-external call storage.upload.commit",
      "storage storage.upload.commit",
      "gateway-internal GET /api/v1/internal/file-uploads/{id}",
    ]);
  });

  test("that is refused is no failure, and a trace that a stranger began is not gone on with", async () => {
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
    const answer = await stack.external("GET", "/api/v1/servers/nowhere/status", undefined, headers);
    assert.equal(answer.status, 404);
    const spans = await traceOf(answer, (all) => all.some(({ kind }) => kind === kinds.server));
    assert.notEqual(spans[0]?.traceId, traceId);
    for (const span of spans) assert.notEqual(span.status.code, 2, span.name);
  });

  test("leaves its trace in the log, and nothing that people wrote in its spans", async () => {
    assert.doesNotMatch(JSON.stringify(collector.spans), new RegExp(secret));
    const ids = new Set(collector.spans.map(({ traceId }) => traceId));
    const logs = join(stack.dataDir, "logs");
    const lines = readdirSync(logs).flatMap((file) => readFileSync(join(logs, file), "utf8").split("\n"));
    const traced = lines.flatMap((line) => /"trace_id":"([0-9a-f]{32})"/.exec(line)?.[1] ?? []);
    assert.ok(
      traced.some((id) => ids.has(id)),
      `${traced.length} lines have a trace`,
    );
  });

  test("is answered as ever when the collector is away", async () => {
    collector.server.closeAllConnections();
    await new Promise((closed) => collector.server.close(closed));
    for (let turn = 0; turn < 5; turn += 1) await call("GET", `${path}/status`);
  });
});
