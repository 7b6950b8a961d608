import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { after, before, test } from "node:test";
import { read } from "../testing/contracts.ts";
import { startTestNats, type TestNats, until } from "../testing.ts";

let nats: TestNats;

before(async () => {
  nats = await startTestNats();
});
after(() => nats?.stop());

test("a wrong password is rejected with a sentence that names the user and no secret", async () => {
  await assert.rejects(nats.connect("lifecycle", { password: "not-it" }), (error: Error) => {
    assert.match(error.message, /rejected the user "lifecycle".*check the NATS user and password/);
    assert.doesNotMatch(error.message, /not-it/);
    return true;
  });
});

test("an unknown user is rejected", async () => {
  await assert.rejects(nats.connect("lifecycle", { user: "nobody" }), /rejected the user "nobody"/);
});

test("connecting waits for a NATS that starts later", async () => {
  const late = await startTestNats();
  await late.kill();
  const connecting = late.connect("storage");
  await late.start();
  const mesh = await connecting;
  assert.equal(mesh.status().connected, true);
  await mesh.drain();
  await late.stop();
});

test("an aborted connect says that NATS cannot be reached and hides credentials of the URL", async () => {
  const stop = AbortSignal.timeout(200);
  const url = "nats://me:hidden@127.0.0.1:1";
  await assert.rejects(nats.connect("lifecycle", { url, signal: stop }), (error: Error) => {
    assert.match(error.message, /NATS at nats:\/\/127\.0\.0\.1:1 could not be reached/);
    return true;
  });
});

test("a server without JetStream is rejected with what to do", async () => {
  const plain = await startTestNats({ jetStream: false });
  await assert.rejects(plain.connect("lifecycle"), /JetStream.*start nats-server with JetStream/);
  await plain.stop();
});

// A real server behind a relay that reports an older version: older binaries are not available everywhere.
async function startOlder(version: string): Promise<{ url: string; close: () => void }> {
  const { hostname, port } = new URL(nats.url);
  const relay = createServer((client) => {
    const upstream = connect({ host: hostname, port: Number(port) });
    client.on("error", () => upstream.destroy()).on("close", () => upstream.destroy());
    upstream.on("error", () => client.destroy()).on("close", () => client.destroy());
    upstream.on("data", (bytes) => {
      client.write(bytes.toString("latin1").replace(/"version":"[^"]*"/, `"version":"${version}"`), "latin1");
    });
    client.pipe(upstream);
  });
  relay.listen(0, "127.0.0.1");
  await once(relay, "listening");
  return { url: `nats://127.0.0.1:${(relay.address() as AddressInfo).port}`, close: () => relay.close() };
}

for (const version of ["2.10.27", "2.11.15", "2.12.6"]) {
  test(`nats-server ${version} is rejected with its version`, async () => {
    const older = await startOlder(version);
    await assert.rejects(nats.connect("lifecycle", { url: older.url }), (error: Error) =>
      error.message.includes(`is nats-server ${version}; svc needs nats-server 2.11.16, 2.12.7 or newer.`),
    );
    older.close();
  });
}

test("after a restart of NATS the same connection serves and calls again", async () => {
  const own = await startTestNats();
  const lifecycle = await own.connect("lifecycle");
  const gateway = await own.connect("gateway-internal");
  let entered = false;
  lifecycle.serve(read, async (_, input) => {
    entered = true;
    if (input.n === 0) await new Promise((resolve) => setTimeout(resolve, 60_000).unref());
    return input;
  });
  await lifecycle.announce();
  const isUnavailable = (error: unknown) => (error as { fault: string }).fault === "unavailable";
  const lost = assert.rejects(gateway.call({ ...read, idempotent: false }, { n: 0 }), isUnavailable);
  await until(() => entered);
  await own.kill();
  await lost;
  await until(() => !gateway.status().connected);
  await assert.rejects(gateway.call(read, { n: 1 }), isUnavailable);
  await own.start();
  await until(async () => (await gateway.call(read, { n: 2 }).catch(() => undefined))?.n === 2);
  assert.equal(gateway.status().reconnects, 1);
  await gateway.drain();
  await lifecycle.drain(100);
  await own.stop();
});
