// The gateway as a process, under the permissions that NATS is shipped with.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createClient } from "@svc/client";
import type { Mesh } from "@svc/mesh";
import { startTestNats, type TestNats, until } from "@svc/mesh/testing";
import { servers } from "@svc/proto";

let nats: TestNats;
let lifecycle: Mesh;
let gateway: ChildProcess;
let baseUrl: string;
const tokens = mkdtempSync(join(tmpdir(), "svc-tokens-"));
const velocity = { authorization: "Bearer token-velocity" };
const survival = {
  ...({ name: "survival", subdomain: "survival", phase: "Running", ready: true } as const),
  ...{ playersOnline: 0, playersMax: 20, idleStopSeconds: 600 },
};

function start(env: NodeJS.ProcessEnv): ChildProcess {
  return spawn(process.execPath, [fileURLToPath(new URL("main.ts", import.meta.url))], {
    env: {
      ...process.env,
      SVC_NATS_URL: nats.url,
      SVC_NATS_PASSWORD: nats.passwords["gateway-internal"],
      SVC_LISTEN: "127.0.0.1:0",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

before(async () => {
  nats = await startTestNats();
  lifecycle = await nats.connect("lifecycle");
  lifecycle.serve(servers.list, () => ({ items: [survival] }));
  lifecycle.serve(servers.readStatus, (context) => {
    throw context.fault("not_found");
  });
  lifecycle.serve(servers.reportJoin, () => null);
  writeFileSync(join(tokens, "velocity"), "token-velocity\n");
  writeFileSync(join(tokens, "ops"), "token-ops\n");
  gateway = start({ SVC_TOKENS_DIR: tokens });
  assert.ok(gateway.stdout);
  for await (const line of createInterface(gateway.stdout)) {
    const entry = JSON.parse(line);
    if (entry.msg !== "listening on the internal face") continue;
    baseUrl = `http://127.0.0.1:${entry.port}`;
    break;
  }
  gateway.stdout.resume();
});
after(async () => {
  if (gateway.exitCode === null) {
    gateway.kill("SIGTERM");
    await once(gateway, "exit");
  }
  await lifecycle.drain(500);
  await nats.stop();
  rmSync(tokens, { recursive: true });
});

test("the proxy lists servers from the owner, and from the view once there is one", async () => {
  const list = () => fetch(`${baseUrl}/api/v1/servers`, { headers: velocity });
  assert.deepEqual(await (await list()).json(), { servers: [survival] });
  const writer = await lifecycle.writeView(servers.servers);
  const creative = { ...survival, name: "creative" };
  await writer.replace(
    new Map([
      ["survival", survival],
      ["creative", creative],
    ]),
  );
  const answer = await until(async () => {
    const found = await list();
    return found.headers.has("etag") && found;
  });
  assert.deepEqual(await answer.json(), { servers: [creative, survival] });
});

test("a typed client speaks with the face, and another caller's token is refused", async () => {
  const client = createClient({ baseUrl, headers: velocity });
  const { items } = await client.call(servers.list, {});
  assert.ok(items.some(({ name }) => name === "survival"));
  const joined = { name: "survival", mc_uuid: "069A79F444E94726A5BEFCA90E38AAF5" };
  assert.equal(await client.call(servers.reportJoin, joined), null);
  const other = createClient({ baseUrl, headers: { authorization: "Bearer token-ops" } });
  await assert.rejects(other.call(servers.list, {}), { status: 403, code: "wrong_caller" });
});

test("probes and metrics need no token; readiness is the owner's word", async () => {
  assert.deepEqual(await (await fetch(`${baseUrl}/healthz`)).json(), { status: "ok" });
  assert.match(await (await fetch(`${baseUrl}/metrics`)).text(), /svc_http_requests_total/);
  assert.equal((await fetch(`${baseUrl}/readyz`)).status, 503);
});

test("equal tokens end the start with a sentence", async () => {
  const child = start({ SVC_SERVICE_TOKEN: "same", SVC_OPS_TOKEN: "same" });
  assert.ok(child.stderr);
  const said = text(child.stderr);
  child.stdout?.resume();
  const [code] = await once(child, "exit");
  assert.equal(code, 1);
  assert.match(await said, /velocity and ops are equal/);
});
