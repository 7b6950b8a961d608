import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { isFault } from "@svc/proto";
import { isKubeError } from "./error.ts";
import { type PodLogRequest, readPodLog } from "./pod-log.ts";
import { createTransport } from "./transport.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;
let answer: Answer;
const server = createServer((request, response) => void answer(request, response));
let transport: ReturnType<typeof createTransport>;

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  transport = createTransport({
    server: new URL(`http://127.0.0.1:${port}`),
    read: async () => ({ headers: {}, tls: {} }),
  });
});
after(() => {
  transport.close();
  server.closeAllConnections();
  server.close();
});

async function read(more: Partial<PodLogRequest> = {}): Promise<[string, string][]> {
  const request = { namespace: "minecraft", name: "a-0", container: "minecraft", lineBytes: 20, ...more };
  const found: [string, string][] = [];
  for await (const lines of readPodLog(transport, request))
    for (const { atNs, line } of lines) found.push([String(atNs), line.toString()]);
  return found;
}

const pieces =
  (...parts: (string | Buffer)[]): Answer =>
  async (_request, response) => {
    for (const part of parts) await new Promise((sent) => response.write(part, sent));
    response.end();
  };

test("lines are put together from any pieces, with their times to the nanosecond", async () => {
  answer = pieces(
    "2026-01-01T00:00:00.000000001Z fi",
    "rst\n2026-01-01T00:00:01Z \n2026-01-01T0",
    "0:00:01.5+00:00 ü",
    "ber\n",
  );
  assert.deepEqual(await read(), [
    ["1767225600000000001", "first"],
    ["1767225601000000000", ""],
    ["1767225601500000000", "über"],
  ]);
});

test("of a line that is too long only the beginning is kept, however long it is", async () => {
  const time = "2026-01-01T00:00:00.123456789Z";
  answer = pieces(`${time} ${"x".repeat(50)}`, "y".repeat(200_000), `\n${time} next\n`);
  assert.deepEqual(
    (await read()).map(([, line]) => line),
    ["x".repeat(20), "next"],
  );
});

test("half a line is not told while the container runs, and is one when it has ended", async () => {
  answer = pieces("2026-01-01T00:00:00Z whole\n2026-01-01T00:00:00Z half");
  assert.equal((await read()).length, 1);
  assert.equal((await read({ follow: true })).length, 2);
});

test("position, tail and container are asked for as Kubernetes names them", async () => {
  let url = "";
  answer = (request, response) => {
    url = request.url ?? "";
    response.end();
  };
  await read({ follow: true, sinceNs: 1_767_225_600_000_000_001n, tailLines: 7 });
  const { pathname, searchParams } = new URL(url, "http://x");
  assert.equal(pathname, "/api/v1/namespaces/minecraft/pods/a-0/log");
  assert.deepEqual(Object.fromEntries(searchParams), {
    container: "minecraft",
    timestamps: "true",
    follow: "true",
    tailLines: "7",
    sinceTime: "2026-01-01T00:00:00.000000001Z",
  });
});

test("a container that waits is a refusal, a broken read is not an end, a broken follow is one", async () => {
  answer = (_request, response) => {
    response.writeHead(400);
    response.end(JSON.stringify({ kind: "Status", code: 400, reason: "BadRequest", message: "waiting" }));
  };
  await assert.rejects(read(), (error) => isKubeError(error, 400));
  answer = async (_request, response) => {
    await new Promise((sent) => response.write("2026-01-01T00:00:00Z a\n", sent));
    response.destroy();
  };
  await assert.rejects(read(), (error) => !isKubeError(error, 400));
  assert.equal((await read({ follow: true })).length, 1);
});

test("a cluster that is away is the fault unavailable", async () => {
  answer = (_request, response) => void response.writeHead(503).end();
  await assert.rejects(read({ follow: true }), (error) => isFault(error) && error.fault === "unavailable");
});
