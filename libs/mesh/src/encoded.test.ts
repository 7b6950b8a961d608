import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { servers } from "@svc/proto";
import type { Mesh } from "./api.ts";
import { bytesOf, encodedPage } from "./encoded.ts";
import { startTestNats, type TestNats } from "./testing.ts";

let nats: TestNats;
let gateway: Mesh;
before(async () => {
  nats = await startTestNats();
  gateway = await nats.connect("gateway-internal");
});
after(async () => {
  await gateway?.drain();
  await nats?.stop();
});

const info = { name: "a", subdomain: "a", phase: "Stopped", ready: false, playersOnline: 0, playersMax: 0 };
const item = (value: object) => Buffer.from(JSON.stringify(value));
const good = item({ ...info, idleStopSeconds: 0 });
const page = `{"items":[${good},${good}],"next":"\\"é"}`;

const pages: [string, Buffer[], string | undefined, string][] = [
  ["nothing", [], undefined, '{"items":[]}'],
  ["one item", [good], undefined, `{"items":[${good}]}`],
  ["a next page", [good, good], '"é', page],
];
for (const [what, items, next, expected] of pages)
  test(`an encoded page of ${what}`, () =>
    assert.equal(Buffer.from(bytesOf(encodedPage(items, next)) ?? []).toString(), expected));

test("encoded answers are sent as they are; where they are checked, wrong ones are refused", async () => {
  const answerOf = async (checksEncoded: boolean, ...items: Buffer[]) => {
    const owner = await nats.connect("lifecycle", { checksEncoded });
    owner.serve(servers.list, () => encodedPage(items, undefined));
    await owner.announce();
    return gateway
      .forward(servers.list, {})
      .then(({ body }) => Buffer.from(body).toString())
      .catch((error) => String(error.fault))
      .finally(() => owner.drain(200));
  };
  const bad = item({ name: "a" });
  assert.equal(await answerOf(true, good), `{"items":[${good}]}`);
  assert.equal(await answerOf(true, good, bad), "internal");
  assert.equal(await answerOf(false, bad), `{"items":[${bad}]}`);
});
