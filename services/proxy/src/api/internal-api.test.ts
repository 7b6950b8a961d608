import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
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
    limits: { retryPauseMinMs: 1, retryPauseMaxMs: 2, serviceConnections: 4, serviceTryMs: 100 },
    onCall: (record) => records.push(record),
  });
  t.after(async () => {
    api.close();
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

test("a read without an answer is asked again, four times in all and no longer than a call may take", async (t) => {
  const { api, requests, records } = await fixture(t, () => {}, 400);
  assert.equal((await api.linkStatus(uuid)).status, 0);
  // On a slow machine one may time out before it arrives.
  assert.ok(requests.length <= 4, `${requests.length} requests arrived`);
  assert.equal(records.length, 1);
});

test("a change without an answer is not asked again", async (t) => {
  const { api, requests } = await fixture(t, () => {}, 400);
  assert.equal((await api.wake("survival", uuid)).status, 0);
  assert.ok(requests.length <= 1, `${requests.length} requests arrived`);
});

const replica = `
  require("node:http").createServer((request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end('{"linked":true}');
  }).listen(0, "127.0.0.1", function () { console.log(this.address().port); });`;

async function startReplica(t: TestContext) {
  const child = spawn(process.execPath, ["-e", replica], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(async () => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  });
  const [line] = await once(child.stdout, "data");
  return { child, port: Number(String(line)) };
}

test("a read at a replica that hangs is answered by the other one, and so is all that follows", async (t) => {
  const [first, second] = await Promise.all([startReplica(t), startReplica(t)]);
  // As a Service of Kubernetes does: a connection goes to one replica for as long as it lasts.
  let connections = 0;
  const front = createTcpServer((socket) => {
    const { port } = connections++ === 0 ? first : second;
    const upstream = connect(port, "127.0.0.1");
    for (const end of [socket, upstream])
      end.on("error", () => [socket, upstream].map((one) => one.destroy()));
    socket.pipe(upstream).pipe(socket);
  });
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  const records: CallRecord[] = [];
  const api = createInternalApi({
    ...{ baseUrl: `http://127.0.0.1:${(front.address() as AddressInfo).port}`, token: () => "secret" },
    ...{ connectTimeoutMs: 10_000, requestTimeoutMs: 600_000 },
    limits: { retryPauseMinMs: 1, retryPauseMaxMs: 2, serviceConnections: 4, serviceTryMs: 1_000 },
    onCall: (record) => records.push(record),
  });
  t.after(async () => {
    api.close();
    front.close();
  });
  assert.ok((await api.linkStatus(uuid)).ok);
  assert.equal(connections, 1);
  first.child.kill("SIGSTOP");
  const answers = await Promise.all(Array.from({ length: 4 }, () => api.linkStatus(uuid)));
  assert.ok(answers.every(({ ok }) => ok));
  assert.ok((await api.linkStatus(uuid)).ok);
  assert.equal(records[0]?.isRetried, false);
  assert.ok(records.slice(1, 5).some(({ isRetried }) => isRetried));
  assert.equal(records[5]?.isRetried, false);
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
