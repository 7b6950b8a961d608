import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { after, before, test } from "node:test";
import { accounts, oneTimeToken, operation, servers } from "@svc/proto";
import { z } from "zod";
import { type Client, createClient } from "./client.ts";
import { ApiError } from "./error.ts";

let client: Client;
let answer: { status: number; body: string; headers?: Record<string, string> };
const seen: { method: string; url: string; headers: IncomingMessage["headers"]; body: string }[] = [];
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { method = "", url = "", headers } = request;
  seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
  response
    .writeHead(answer.status, { "content-type": "application/json", ...answer.headers })
    .end(answer.body);
});

before(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address);
  const baseUrl = `http://127.0.0.1:${address.port}`;
  client = createClient({ baseUrl, cookie: "c", headers: { authorization: "Bearer t" } });
});
after(() => {
  server.close();
  server.closeAllConnections();
});

const answers = (status: number, body: unknown, headers?: Record<string, string>) => {
  answer = {
    status,
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...(headers ? { headers } : {}),
  };
};

test("parameters go into the path, the rest into the body, credentials into headers", async () => {
  answers(202, { name: "a b", desiredState: "Running", phase: "Starting", ready: false });
  const uuid = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
  const accepted = await client.call(servers.wakeForPlayer, { name: "a b", mc_uuid: uuid });
  assert.equal(accepted.phase, "Starting");
  const request = seen.at(-1);
  assert.equal(request?.method, "POST");
  assert.equal(request?.url, "/api/v1/internal/servers/a%20b/wake");
  assert.deepEqual(JSON.parse(request?.body ?? ""), { mc_uuid: uuid });
  assert.equal(request?.headers["authorization"], "Bearer t");
  assert.equal(request?.headers.cookie, "svc_session=c");
  assert.equal(request?.headers["content-type"], "application/json");
});

test("a parameter cannot leave its place in the path", async () => {
  answers(200, { ok: true, signed_out: false });
  await client.call(accounts.revokeSession, { hash: "../../me?x#y" });
  assert.equal(seen.at(-1)?.url, "/api/v1/account/sessions/..%2F..%2Fme%3Fx%23y");
  await assert.rejects(client.call(accounts.revokeSession, { hash: "." }), /hash cannot be/);
});

test("a collected list comes whole", async () => {
  answers(200, { servers: [] });
  assert.deepEqual(await client.call(servers.list, {}), { items: [] });
});

test("members that a newer server adds are not errors", async () => {
  answers(200, { revoked: 3, since: "tomorrow" });
  assert.equal((await client.call(accounts.revokeOtherSessions, {})).revoked, 3);
});

test("an answer that does not fit names its contract", async () => {
  answers(200, { revoked: "3" });
  await assert.rejects(client.call(accounts.revokeOtherSessions, {}), /identity\.session\.revoke-others/);
});

test("a refusal is an ApiError with everything that the server told", async () => {
  const body = { error: { code: "cooldown", message: "Wait.", request_id: "r" } };
  answers(429, body, { "retry-after": "12", "x-request-id": "r" });
  await assert.rejects(client.call(accounts.me, {}), (error) => {
    assert.ok(error instanceof ApiError);
    const { status, code, message, requestId, retryAfterSeconds } = error;
    assert.deepEqual(
      { status, code, message, requestId, retryAfterSeconds },
      { status: 429, code: "cooldown", message: "Wait.", requestId: "r", retryAfterSeconds: 12 },
    );
    return true;
  });
});

test("an answer of something else on the way is an ApiError too", async () => {
  answers(502, "<html>bad gateway</html>");
  await assert.rejects(client.call(accounts.me, {}), { name: "ApiError", status: 502, code: "" });
});

const spend = operation({
  subject: "storage.token.spend",
  http: {
    method: "GET",
    path: "/tokens/{id}",
    face: "internal",
    tier: "public",
    bearer: "one-time",
    nullAs: 204,
  },
  params: { id: z.string() },
  headers: { ...oneTimeToken, content_digest: z.string().optional() },
  output: z.strictObject({ ok: z.literal(true) }).nullable(),
  summary: "A test.",
  spec: "none",
});

test("header fields go into headers, the one-time token is the bearer", async () => {
  answers(200, { ok: true });
  const input = { id: "a", token: "once", content_digest: "sha-256=:x:" };
  assert.deepEqual(await client.call(spend, input), { ok: true });
  assert.equal(seen.at(-1)?.headers["authorization"], "Bearer once");
  assert.equal(seen.at(-1)?.headers["content-digest"], "sha-256=:x:");
});

test("204 is null where the contract says so", async () => {
  answers(204, "");
  assert.equal(await client.call(spend, { id: "a", token: "once" }), null);
  await assert.rejects(client.call(accounts.me, {}), { name: "ApiError", status: 204 });
});
