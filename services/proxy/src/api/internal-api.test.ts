import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { type CallRecord, createInternalApi } from "./internal-api.ts";

const uuid = "069a79f4-44e9-4726-a5be-fca90e38aaf5";

async function fixture(t: TestContext, answer: RequestListener, requestTimeoutMs = 5_000) {
  const requests: string[] = [];
  const records: CallRecord[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const api = createInternalApi({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: () => "secret",
    connectTimeoutMs: 1_000,
    requestTimeoutMs,
    limits: { retryPauseMinMs: 1, retryPauseMaxMs: 2, serviceConnections: 4 },
    onCall: (record) => records.push(record),
  });
  t.after(async () => {
    await api.close();
    server.closeAllConnections();
    server.close();
  });
  return { api, requests, records };
}

function envelope(code: string): string {
  return JSON.stringify({ error: { code, message: "no", request_id: "r" } });
}

for (const status of [502, 503, 504]) {
  test(`a GET that met ${status} is sent once more, and its answer counts`, async (t) => {
    let calls = 0;
    const { api, requests, records } = await fixture(t, (_, response) => {
      calls += 1;
      if (calls === 1) response.writeHead(status).end(envelope("unavailable"));
      else response.writeHead(200, { "content-type": "application/json" }).end('{"linked":true}');
    });
    const answer = await api.linkStatus(uuid);
    assert(answer.ok && answer.value.linked);
    assert.deepEqual(
      requests,
      new Array(2).fill(`GET /api/v1/internal/account/link/status/${uuid} Bearer secret`),
    );
    assert.deepEqual(
      records.map(({ status, isRetried }) => [status, isRetried]),
      [[200, true]],
    );
  });
}

test("a GET whose connection dropped is sent once more, never twice", async (t) => {
  const { api, requests } = await fixture(t, (request) => request.socket.destroy());
  const answer = await api.linkStatus(uuid);
  assert.deepEqual([answer.ok, answer.status], [false, 0]);
  assert.equal(requests.length, 2);
});

test("a POST is never repeated, whatever it met", async (t) => {
  const drop = await fixture(t, (request) => request.socket.destroy());
  assert.equal((await drop.api.wake("survival", uuid)).status, 0);
  assert.equal(drop.requests.length, 1);
  const down = await fixture(t, (_, response) => response.writeHead(503).end(envelope("at_capacity")));
  const answer = await down.api.wake("survival", uuid);
  assert(!answer.ok);
  assert.deepEqual([answer.status, answer.code], [503, "at_capacity"]);
  assert.equal(down.requests.length, 1);
});

test("a GET that timed out is not repeated", async (t) => {
  const { api, requests } = await fixture(t, () => {}, 50);
  assert.equal((await api.linkStatus(uuid)).status, 0);
  // On a slow machine it may time out before anything arrives.
  assert.ok(requests.length <= 1, `${requests.length} requests arrived`);
});

test("a refusal keeps its code and how long to wait", async (t) => {
  const { api, requests } = await fixture(t, (_, response) =>
    response.writeHead(429, { "retry-after": "7" }).end(envelope("cooldown")),
  );
  const answer = await api.wake("survival", uuid);
  assert(!answer.ok);
  assert.deepEqual([answer.status, answer.code, answer.retryAfterSeconds], [429, "cooldown", 7]);
  assert.deepEqual(requests, ["POST /api/v1/internal/servers/survival/wake Bearer secret"]);
});

test("a name that would leave its path is refused before anything is sent", async (t) => {
  const { api, requests } = await fixture(t, (_, response) => response.writeHead(200).end("{}"));
  assert.equal((await api.readStatus("..")).ok, false);
  assert.deepEqual(requests, []);
});
