import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect, headers } from "@nats-io/transport-node";
import type { Mesh } from "../api.ts";
import { change } from "../testing/contracts.ts";
import { startTestNats, type TestNats, until } from "../testing.ts";

let nats: TestNats;
let gateway: Mesh;
const owners: Mesh[] = [];

before(async () => {
  nats = await startTestNats();
  gateway = await nats.connect("gateway-internal");
});
after(async () => {
  await gateway?.drain();
  await nats?.stop();
});
test.afterEach(async () => {
  await Promise.all(owners.splice(0).map((mesh) => mesh.drain(200)));
});

async function owner(): Promise<Mesh> {
  const mesh = await nats.connect("lifecycle");
  owners.push(mesh);
  return mesh;
}

const unavailable = { fault: "unavailable" };

test("the handler's signal aborts at the deadline and the caller gets unavailable", async () => {
  const lifecycle = await owner();
  const brief = { ...change, deadlineMs: 150 };
  let aborted = false;
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  lifecycle.serve(brief, async ({ signal }, input) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    aborted = true;
    await gate;
    return input;
  });
  await lifecycle.announce();
  await assert.rejects(gateway.call(brief, { n: 1 }), unavailable);
  await until(() => aborted);
  release();
});

test("a signal that is first looked at after the deadline is aborted", async () => {
  const lifecycle = await owner();
  const brief = { ...change, deadlineMs: 400 };
  const looked = Promise.withResolvers<boolean>();
  lifecycle.serve(brief, (context, input) => {
    while (Date.now() <= context.deadlineAt);
    looked.resolve(context.signal.aborted);
    return input;
  });
  await lifecycle.announce();
  // Its timer of the deadline and the answer are due at the same time.
  const answered = gateway.call(brief, { n: 1 }).catch(() => undefined);
  assert.equal(await looked.promise, true);
  await answered;
});

test("a request whose deadline has passed is not handled", async () => {
  const lifecycle = await owner();
  let handled = 0;
  lifecycle.serve(change, (_, input) => {
    handled += 1;
    return input;
  });
  await lifecycle.announce();
  await assert.rejects(gateway.call(change, { n: 1 }, { deadlineAt: Date.now() - 1 }), unavailable);
  // Delayed on its way to the owner: the client checks the deadline itself, so this message is built by hand.
  const late = await rawRequest(JSON.stringify({ n: 1 }), String(Date.now() - 1));
  assert.equal(late, "unavailable");
  assert.equal(handled, 0);
});

async function rawRequest(body: string, deadline: string): Promise<string> {
  const raw = await connect({
    servers: nats.url,
    user: "gateway-internal",
    pass: nats.passwords["gateway-internal"] ?? "",
    inboxPrefix: "_INBOX_gateway_internal",
  });
  const block = headers();
  block.set("Svc-Principal", '{"kind":"anonymous"}');
  block.set("Svc-Deadline", deadline);
  const reply = await raw.request(`svc.rpc.${change.subject}`, body, { timeout: 2_000, headers: block });
  await raw.close();
  return reply.headers?.get("Svc-Fault") ?? "";
}
