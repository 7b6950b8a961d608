import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import * as contracts from "../testing/contracts.ts";
import { type GatewayFixture, type RunningFace, startGatewayFixture } from "../testing/gateway-fixture.ts";
import { send } from "../testing/raw-request.ts";

let fixture: GatewayFixture;
let face: RunningFace;

before(async () => {
  fixture = await startGatewayFixture();
  fixture.owner.serve(contracts.open, ({ principal, client, requestId, traceparent }, input) => ({
    ...{ principal, client, traceparent, input },
    request_id: requestId,
  }));
  fixture.owner.serve(contracts.door, (context) => {
    context.reply.session = { value: "v".repeat(43), expires_at: "2026-01-02T03:04:05.000Z" };
    return { ok: true as const };
  });
  face = await fixture.startFace();
});
after(() => fixture.close());
beforeEach(() => {
  fixture.budget.allowed = true;
});

describe("the sign-in budget", () => {
  const enter = (headers: Record<string, string> = {}, port = face.port) =>
    send(port, {
      method: "POST",
      path: "/door",
      headers: { "content-type": "application/json", ...headers },
    });
  test("a spent budget is 429 with Retry-After, and is counted", async () => {
    fixture.budget.allowed = false;
    const answer = await enter();
    assert.equal(answer.status, 429);
    assert.deepEqual(answer.json()["error"], { ...Object(answer.json()["error"]), code: "rate_limited" });
    assert.equal(answer.headers["retry-after"], "7");
    assert.match(await face.registry.metrics(), /svc_rate_limited_total\{scope="auth_door"\} 1/);
  });
  test("a sign-in operation requires application/json even without a body, before the budget is charged", async () => {
    const before = fixture.budget.addresses.length;
    const answer = await send(face.port, { method: "POST", path: "/door" });
    assert.equal(answer.status, 415);
    assert.equal(fixture.budget.addresses.length, before);
  });
  test("a change from another site is refused before the budget is charged", async () => {
    const before = fixture.budget.addresses.length;
    assert.equal((await enter({ origin: "https://evil.test" })).status, 403);
    assert.equal(fixture.budget.addresses.length, before);
  });
  const malformed = (address: string, port: number) =>
    send(port, {
      method: "POST",
      path: "/door/code",
      headers: { "content-type": "application/json", "x-forwarded-for": address },
      body: '{"code": ',
    });
  test("a malformed request is refused before anybody is asked, whoever sends it", async () => {
    const before = { budget: fixture.budget.addresses.length, asked: fixture.asked() };
    const cookie = `svc_session=${"m".repeat(43)}`;
    for (const [method, path, body] of [
      ["POST", "/door/code", '{"code": '],
      ["POST", "/door/code", '{"code": 7}'],
      ["PUT", "/things/a", '{"size": '],
      ["PUT", "/things/a", '{"size": "large"}'],
      ["PUT", "/things/a?loud=perhaps", '{"size": 1}'],
    ] as const) {
      const headers = { "content-type": "application/json", cookie };
      const answer = await send(face.port, { method, path, headers, body });
      assert.equal(answer.status, 400, `${path} ${body}`);
    }
    assert.deepEqual({ budget: fixture.budget.addresses.length, asked: fixture.asked() }, before);
  });
  test("an address that sends malformed requests is held back for a while, others are not", async () => {
    const settings = { clientIpHeader: "x-forwarded-for", malformedSignIns: 3 };
    const own = await fixture.startFace({ settings });
    const before = fixture.budget.addresses.length;
    for (const status of [400, 400, 400, 429, 429])
      assert.equal((await malformed("203.0.113.9", own.port)).status, status);
    const held = await enter({ "x-forwarded-for": "203.0.113.9" }, own.port);
    assert.equal(held.status, 429);
    // Twenty seconds for each of three, less what the test itself has taken.
    const retryAfter = Number(held.headers["retry-after"]);
    assert.ok(retryAfter >= 1 && retryAfter <= 20, `${retryAfter} s`);
    assert.equal((await malformed("203.0.113.10", own.port)).status, 400);
    assert.equal(fixture.budget.addresses.length, before);
    assert.equal((await enter({ "x-forwarded-for": "203.0.113.10" }, own.port)).status, 200);
    assert.match(await own.registry.metrics(), /svc_rate_limited_total\{scope="auth_door"\} 3/);
  });
  test("other operations have no budget", async () => {
    fixture.budget.allowed = false;
    const headers = { host: "console.test" };
    assert.equal((await send(face.port, { path: "/open", headers })).status, 200);
  });
  test("without a header setting, the TCP peer counts, whatever the caller claims", async () => {
    await enter({ "x-forwarded-for": "203.0.113.9" });
    assert.equal(fixture.budget.addresses.at(-1), "127.0.0.1");
  });
  const forwarded: [string, string][] = [
    ["198.51.100.1, 203.0.113.9", "203.0.113.9"],
    ["203.0.113.9:4711", "203.0.113.9"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["[2001:db8:1:2::9]:4711", "2001:db8:1:2::/64"],
    ["::ffff:203.0.113.9", "203.0.113.9"],
    ["203.0.113.9, nonsense", "127.0.0.1"],
  ];
  test("behind a proxy, the rightmost entry of X-Forwarded-For counts; IPv6 by its /64", async () => {
    const own = await fixture.startFace({ settings: { clientIpHeader: "x-forwarded-for" } });
    for (const [header, key] of forwarded) {
      await enter({ "x-forwarded-for": header }, own.port);
      assert.equal(fixture.budget.addresses.at(-1), key, header);
    }
  });
  test("an edge's own header counts when it is an address", async () => {
    const own = await fixture.startFace({ settings: { clientIpHeader: "cf-connecting-ip" } });
    await enter({ "cf-connecting-ip": "2001:db8::1" }, own.port);
    assert.equal(fixture.budget.addresses.at(-1), "2001:db8:0:0::/64");
    await enter({ "cf-connecting-ip": "1.2.3.4, 5.6.7.8" }, own.port);
    assert.equal(fixture.budget.addresses.at(-1), "127.0.0.1");
  });
});
