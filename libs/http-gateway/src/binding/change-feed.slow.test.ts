// Streams of changes: everybody hears of what they may know, nothing is lost unsaid, and rights end with the session.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import type { ViewWriter } from "@svc/mesh";
import { accounts, eventSubject, type Principal } from "@svc/proto";
import { createLogger } from "@svc/telemetry";
import type { z } from "zod";
import * as contracts from "../testing/contracts.ts";
import { openEvents } from "../testing/event-viewer.ts";
import { type GatewayFixture, type RunningFace, startGatewayFixture } from "../testing/gateway-fixture.ts";
import { createMirrors } from "./cached-view.ts";
import { createChangeFeed } from "./change-feed.ts";

let fixture: GatewayFixture;
let face: RunningFace;
let things: ViewWriter<z.output<typeof contracts.Thing>>;
let keepers: ViewWriter<z.output<typeof contracts.Keeper>>;
let isCurrent = true;
let size = 100;

const settings = { changeFlushMs: 20, changeOverlapMs: 0 };
const hashOf = (cookie: string) => createHash("sha256").update(cookie).digest("hex");

function signIn(user_id: string, host: "player" | "operator" = "player"): string {
  const cookie = randomBytes(32).toString("base64url");
  const role = host === "operator" ? "admin" : "user";
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const about = { role, setup: false, host, user_id, username: user_id, expires_at } as const;
  fixture.sessions.set(hashOf(cookie), { state: "live", ...about });
  return cookie;
}

type Viewer = Awaited<ReturnType<typeof view>>;

/** `told`: `<type> <thing>` or the name of the event, in order. */
async function view(port: number, cookie: string, headers?: Record<string, string>) {
  const viewer = await openEvents({ port, path: "/changes", cookie, ...(headers && { headers }) });
  return { ...viewer, received: () => toldIn(viewer.text()) };
}

function toldIn(text: string): string[] {
  return text.split("\n\n").flatMap((block) => {
    const [, event] = /^event: (.*)$/m.exec(block) ?? [];
    const [, data] = /^data: (.*)$/m.exec(block) ?? [];
    if (data === undefined) return [];
    const { type, server } = event === undefined ? JSON.parse(data) : { type: event, server: "" };
    return [`${type} ${server}`.trim()];
  });
}

const operator = { host: "op.console.test" };
const heard = (viewer: Viewer, ...wanted: string[]) =>
  until(() => wanted.every((one) => viewer.received().includes(one)), 20_000, wanted.join(", "));
/** A stream may begin with a pause: until the views are known to be current. */
const unpaused = (viewer: Viewer) => viewer.received().filter((one) => one !== "paused");
/** A viewer whose stream has begun. */
async function viewFromNow(cookie: string, headers: Record<string, string> = {}): Promise<Viewer> {
  const viewer = await view(face.port, cookie, headers);
  await heard(viewer, "reset");
  return viewer;
}

const change = (name: string) => things.put(name, { name, size: ++size });
const keep = (name: string, keeper?: string) => keepers.put(name, { name, ...(keeper && { keeper }) });
function polish(...names: string[]): Promise<void> {
  const id = randomBytes(8).toString("hex");
  return fixture.owner.publish(
    names.map((name) => ({
      id: `${id}-${name}`,
      subject: eventSubject(contracts.polished, { name }),
      body: Buffer.from(JSON.stringify({ name })),
    })),
  );
}

before(async () => {
  fixture = await startGatewayFixture();
  things = await fixture.owner.writeView(contracts.things);
  keepers = await fixture.owner.writeView(contracts.wardens, { isCurrent: () => isCurrent });
  const names = ["a", "b", "free", "mine"];
  await things.replace(new Map(names.map((name) => [name, { name, size: 1 }])));
  await keepers.replace(
    new Map([
      ["a", { name: "a", keeper: "usr-a" }],
      ["mine", { name: "mine", keeper: "usr-a" }],
      ["b", { name: "b", keeper: "usr-b" }],
      ["free", { name: "free" }],
    ]),
  );
  face = await fixture.startFace({ settings });
});
after(() => fixture.close());

test("each hears of what they may know: keepers of theirs, others of what is free, staff of all", async () => {
  const keeper = await viewFromNow(signIn("usr-a"));
  const other = await viewFromNow(signIn("usr-c"));
  const staff = await viewFromNow(signIn("usr-s", "operator"), operator);
  await polish("b", "free", "a");
  await heard(keeper, "polish a");
  await heard(staff, "polish a", "polish b", "polish free");
  for (const name of ["b", "a", "free"]) await change(name);
  await heard(keeper, "thing a", "thing free");
  await heard(other, "thing free");
  await heard(staff, "thing a", "thing b", "thing free");
  assert.deepEqual(unpaused(keeper), ["reset", "polish a", "thing a", "thing free"]);
  assert.deepEqual(unpaused(other), ["reset", "thing free"]);
  for (const one of [keeper, other, staff]) one.leave();
});

test("a thing that changes hands or is removed is told to who loses it, once, and then no more", async () => {
  const loser = await viewFromNow(signIn("usr-a"));
  const winner = await viewFromNow(signIn("usr-b"));
  await keep("a", "usr-b");
  await heard(loser, "thing a");
  await heard(winner, "thing a");
  await polish("a", "mine");
  await heard(loser, "polish mine");
  await heard(winner, "polish a");
  assert.deepEqual(unpaused(loser), ["reset", "thing a", "polish mine"]);
  await keepers.remove("a");
  await change("mine");
  await heard(loser, "thing mine");
  await until(() => winner.received().filter((one) => one === "thing a").length === 2, 20_000, "the removal");
  assert.ok(!unpaused(loser).slice(2).includes("thing a"));
  await keep("a", "usr-a");
  loser.leave();
  winner.leave();
});

test("a burst of changes of one thing is few messages", async () => {
  const slow = await fixture.startFace({ settings: { ...settings, changeFlushMs: 1_000 } });
  const viewer = await view(slow.port, signIn("usr-a"));
  await heard(viewer, "reset");
  for (let count = 0; count < 50; count++) await change("a");
  await polish("a");
  await heard(viewer, "thing a", "polish a");
  assert.ok(viewer.received().length < 25, String(viewer.received().length));
  viewer.leave();
});

test("a stream goes on where it broke off; who lost something meanwhile is told", async () => {
  const cookie = signIn("usr-a");
  const first = await viewFromNow(cookie);
  const [, second = ""] = /id: (\d{10})\n/.exec(first.text()) ?? [];
  first.leave();
  await change("mine");
  await polish("a");
  await keep("a", "usr-b");
  const watch = await viewFromNow(signIn("usr-b"));
  await change("a");
  await heard(watch, "thing a");
  const again = await view(face.port, cookie, { "last-event-id": second });
  await heard(again, "thing mine", "thing a");
  assert.ok(!again.received().includes("reset") && !again.received().includes("polish a"));
  for (const unknown of ["1", String(Number(second) - 4_000), "later"]) {
    const lost = await view(face.port, cookie, { "last-event-id": unknown });
    await heard(lost, "reset");
    lost.leave();
  }
  await keep("a", "usr-a");
  again.leave();
  watch.leave();
});

test("while rights are not known nothing is told but that the stream pauses, and a reset follows", async () => {
  const viewer = await viewFromNow(signIn("usr-a"));
  isCurrent = false;
  await heard(viewer, "paused");
  const late = await view(face.port, signIn("usr-a"));
  await heard(late, "paused");
  await polish("a");
  isCurrent = true;
  await until(() => viewer.received().at(-1) === "reset", 20_000, "the reset");
  await heard(late, "reset");
  await polish("mine");
  await heard(viewer, "polish mine");
  assert.ok(!viewer.received().includes("polish a"));
  viewer.leave();
  late.leave();
});

test("a stream ends with its session at once, and with its account at the next check", async () => {
  const own = await fixture.startFace({ settings: { ...settings, streamRecheckMs: 80 } });
  const [revoked, disabled] = [signIn("usr-a"), signIn("usr-b")];
  const first = await view(face.port, revoked);
  const data = { hash: hashOf(revoked), user_id: "usr-a", at: new Date().toISOString() };
  const subject = eventSubject(accounts.sessionRevoked, data);
  await fixture.identity.publish([{ id: revoked, subject, body: Buffer.from(JSON.stringify(data)) }]);
  await first.ended;
  const second = await view(own.port, disabled);
  fixture.sessions.delete(hashOf(disabled));
  await second.ended;
  for (const viewer of [first, second]) assert.match(viewer.text(), /event: revoked\ndata: revoked\n\n$/);
  assert.equal((await view(face.port, disabled)).response.statusCode, 401);
});

test("an account has a limited number of streams; one more is 429 with the seconds to wait", async () => {
  const own = await fixture.startFace({ settings: { ...settings, streamsPerAccount: 2 } });
  const cookie = signIn("usr-a");
  const viewers = [await view(own.port, cookie), await view(own.port, signIn("usr-a"))];
  const refused = await view(own.port, cookie);
  assert.equal(refused.response.statusCode, 429);
  assert.match(String(refused.response.headers["retry-after"]), /^\d+$/);
  await until(() => refused.text().includes("too_many_streams"), 20_000, "the refusal");
  for (const viewer of viewers) viewer.leave();
});

test("a viewer that reads nothing is disconnected, and what it missed is not forgotten", async () => {
  const own = await fixture.startFace({
    settings: { ...settings, streamBufferBytes: -1, streamStuckMs: 100 },
  });
  const cookie = signIn("usr-a");
  const viewer = await view(own.port, cookie);
  const second = String(Math.floor(Date.now() / 1_000));
  await change("a");
  await viewer.ended;
  assert.deepEqual(unpaused(viewer), []);
  const again = await view(face.port, cookie, { "last-event-id": second });
  await heard(again, "thing a");
  again.leave();
});

test("what waits for a slow viewer is one message for each change, and a reset when it is too much", async () => {
  const mirrors = createMirrors(fixture.gateway);
  const both = { of: mirrors.of(contracts.things), beside: mirrors.of(contracts.wardens) };
  const binding = contracts.watchChanges.http?.changes ?? assert.fail();
  const log = createLogger("gateway-external", "silent");
  const limits = { resumeMs: 3_600_000, overlapMs: 0 };
  const feed = createChangeFeed({ mesh: fixture.gateway, mirrors: both, binding, log, flushMs: 10, limits });
  const principal: Principal = {
    ...{ kind: "account", user_id: "usr-s", username: "s", role: "admin" },
    ...{ staff: true, setup: false, session: "x" },
  };
  let text = "";
  let reads = true;
  let refused = 0;
  const send = (bytes: Buffer) => {
    if (reads) text += bytes.toString();
    else refused++;
    return reads;
  };
  const stalled = async () => {
    const before = refused;
    await until(() => refused > before, 20_000, "a message that is not read");
  };
  feed.join({ principal: () => principal, send }, undefined);
  let prompt = "";
  const readAtOnce = (bytes: Buffer) => {
    prompt += bytes.toString();
    return true;
  };
  feed.join({ principal: () => principal, send: readAtOnce }, undefined);
  await until(() => toldIn(text).includes("reset"), 20_000, "the start");
  text = "";
  reads = false;
  for (let count = 0; count < 5; count++) await polish("a");
  await stalled();
  reads = true;
  await until(() => toldIn(text).length > 0, 20_000, "what waited");
  assert.deepEqual(toldIn(text), ["polish a"]);
  text = "";
  reads = false;
  await polish(...Array.from({ length: 1_100 }, (_, count) => `n-${count}`));
  await polish("last");
  await until(() => prompt.includes('"last"'), 20_000, "all of it for a viewer that reads");
  reads = true;
  await until(() => toldIn(text).length > 0, 20_000, "the reset");
  await polish("after");
  await until(() => toldIn(text).includes("polish after"), 20_000, "the stream to go on");
  assert.equal(toldIn(text)[0], "reset");
  feed.close();
  await mirrors.close();
});
