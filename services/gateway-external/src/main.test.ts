// The gateway as a process, under the permissions that NATS is shipped with.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { ApiError, createClient } from "@svc/client";
import type { Mesh } from "@svc/mesh";
import { startTestNats, type TestNats, until } from "@svc/mesh/testing";
import { accounts, eventSubject } from "@svc/proto";

let nats: TestNats;
let identity: Mesh;
let gateway: ChildProcess;
let baseUrl: string;
const cookie = "c".repeat(43);
const hash = createHash("sha256").update(cookie).digest("hex");
let isLive = true;

before(async () => {
  nats = await startTestNats();
  identity = await nats.connect("identity");
  const live = { user_id: "usr-1", username: "one", role: "owner", setup: false, host: "player" } as const;
  identity.serve(accounts.resolveSession, ({ log: _ }, asked) => {
    if (!isLive || asked.hash !== hash) return { state: "unknown" as const };
    return { ...live, state: "live" as const, expires_at: "2999-01-01T00:00:00.000Z" };
  });
  identity.serve(accounts.takeSignInBudget, () => ({ allowed: true, retry_after_seconds: 0 }));
  identity.serve(accounts.me, ({ principal }) => ({
    user_id: principal.kind === "account" ? principal.user_id : "",
    username: "one",
    email: "one@example.org",
    role: "owner" as const,
    is_admin: principal.kind === "account" && principal.staff,
    is_owner: true,
    email_verified: true,
  }));
  gateway = spawn(process.execPath, [fileURLToPath(new URL("main.ts", import.meta.url))], {
    env: {
      ...process.env,
      SVC_NATS_URL: nats.url,
      SVC_NATS_PASSWORD: nats.passwords["gateway-external"],
      SVC_LISTEN: "127.0.0.1:0",
      SVC_SET: "server.root_domain=example.test",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  baseUrl = await listeningAt(gateway);
});
after(async () => {
  if (gateway.exitCode === null) {
    gateway.kill("SIGTERM");
    await once(gateway, "exit");
  }
  await identity.drain(500);
  await nats.stop();
});

async function listeningAt(child: ChildProcess): Promise<string> {
  assert.ok(child.stdout);
  const lines = createInterface(child.stdout);
  for await (const line of lines) {
    const entry = JSON.parse(line);
    if (entry.msg !== "the external face listens") continue;
    child.stdout.resume();
    return `http://127.0.0.1:${entry.port}`;
  }
  throw new Error("the gateway ended before it listened");
}

test("a session reaches its owner through the permissions of the mesh", async () => {
  const me = await createClient({ baseUrl, cookie }).call(accounts.me, {});
  assert.equal(me.user_id, "usr-1");
  assert.equal(me.is_admin, false);
});

test("a refusal comes to a client as an ApiError with its code and request id", async () => {
  const headers = { "x-request-id": "known" };
  const call = createClient({ baseUrl, headers }).call(accounts.me, {});
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof ApiError);
    assert.deepEqual(
      { status: error.status, code: error.code, requestId: error.requestId },
      { status: 401, code: "unauthorized", requestId: "known" },
    );
    return true;
  });
});

test("a client gives a door its content type, and hears the rest of a 503", async () => {
  await assert.rejects(createClient({ baseUrl }).call(accounts.redeemSetup, { token: "x" }), (error) => {
    assert.ok(error instanceof ApiError);
    assert.equal(error.status, 503);
    assert.equal(error.retryAfterSeconds, 1);
    return true;
  });
});

test("a client refuses a path parameter that would reach another operation", async () => {
  const client = createClient({ baseUrl, cookie });
  await assert.rejects(client.call(accounts.revokeSession, { hash: ".." }), /hash cannot be/);
});

test("a revoke event reaches the gateway", async () => {
  const client = createClient({ baseUrl, cookie });
  await client.call(accounts.me, {});
  isLive = false;
  const data = { hash, user_id: "usr-1", at: new Date().toISOString() };
  const body = Buffer.from(JSON.stringify(data));
  await identity.publish([{ id: "revoked-1", subject: eventSubject(accounts.sessionRevoked, data), body }]);
  const isRefused = () =>
    client.call(accounts.me, {}).then(
      () => false,
      () => true,
    );
  await until(isRefused);
});

test("the internal face's operations are not here", async () => {
  for (const path of ["/readyz", "/metrics", "/api/v1/internal/servers/a/status"]) {
    assert.equal((await fetch(baseUrl + path)).status, 404, path);
  }
});

test("SIGTERM ends it in order", async () => {
  gateway.kill("SIGTERM");
  const [code] = await once(gateway, "exit");
  assert.equal(code, 0);
});
