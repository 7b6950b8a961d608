// Named events of event streams, and streams whose source has ended.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { eventFrame } from "@svc/mesh";
import { liveSubject } from "@svc/proto";
import * as contracts from "../testing/contracts.ts";
import { openEvents } from "../testing/event-viewer.ts";
import { type GatewayFixture, type RunningFace, startGatewayFixture } from "../testing/gateway-fixture.ts";
import { send } from "../testing/raw-request.ts";

let fixture: GatewayFixture;
let face: RunningFace;
const cookie = randomBytes(32).toString("base64url");
/** Frames of consoles whose source has ended; undefined for a viewer that has seen them. */
const hasEnded = new Map<string, Buffer[] | undefined>();
const kept = (frames: Buffer[]) =>
  fixture.owner.byteTransfers.download({
    headers: {},
    source: async function* () {
      yield* frames;
    },
  });

before(async () => {
  fixture = await startGatewayFixture();
  fixture.sessions.set(createHash("sha256").update(cookie).digest("hex"), {
    ...({
      state: "live",
      user_id: "usr-1",
      username: "one",
      role: "user",
      setup: false,
      host: "player",
    } as const),
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  });
  fixture.owner.serve(contracts.watch, (context, { id }) => {
    const frames = hasEnded.get(id);
    if (frames) context.reply.byteTransfer = kept(frames);
    else if (!hasEnded.has(id)) {
      const subject = liveSubject("lifecycle", "console", id);
      context.reply.stream = { stream: "LIFECYCLE_LIVE", subject, tail: 10 };
    }
    return null;
  });
  face = await fixture.startFace();
});
after(() => fixture?.close());

const view = (port: number, id: string) => openEvents({ port, path: `/things/${id}/console`, cookie });

test("a named event stands between lines, live and replayed, and the end has its own id", async () => {
  const viewer = await view(face.port, "named");
  const place = { owner: "lifecycle", noun: "console", key: "named" } as const;
  const writer = await fixture.owner.openLiveLog(place);
  const line = (text: string, position: string) => ({ line: Buffer.from(text), position });
  const begins = { ...line('{"name":"build"}', "b"), event: "step" };
  await writer.write([line("one", "a"), begins, line("two", "c"), line("three", "d")]);
  await fixture.owner.endLiveLog(place, Buffer.from('{"status":"failed"}'), "end");
  await viewer.ended;
  const wanted =
    /data: one\n\nid: \d+\nevent: step\ndata: \{"name":"build"\}\n\nid: \d+\ndata: two\n\n.*id: end\nevent: end\n/s;
  assert.match(viewer.text(), wanted);
  const again = await view(face.port, "named");
  await until(() => again.text().includes("event: end"), 10_000, "the replay");
  assert.match(again.text(), /event: end\ndata: \{"status":"failed"\}\n\n$/);
  again.leave();
});

test("what was kept of a source that has ended is sent whole; who has seen it gets 204", async () => {
  const lines = Array.from({ length: 20_000 }, (_, n) => Buffer.from(`line ${n} ${"x".repeat(80)}`));
  hasEnded.set(
    "over",
    lines.map((line) => eventFrame({ atSeconds: 7, line })),
  );
  const viewer = await view(face.port, "over");
  await viewer.ended;
  assert.equal(viewer.response.headers["content-type"], "text/event-stream; charset=utf-8");
  assert.equal(viewer.text().match(/^data: line/gm)?.length, 20_000);
  assert.ok(viewer.response.complete);
  hasEnded.set("over", undefined);
  const again = await send(face.port, {
    path: "/things/over/console",
    headers: { cookie: `svc_session=${cookie}` },
  });
  assert.equal(again.status, 204);
});

test("a stream whose source ended unseen is closed at the next check, so that its viewer comes back", async () => {
  const own = await fixture.startFace({ settings: { streamRecheckMs: 100 } });
  const viewer = await view(own.port, "unseen");
  hasEnded.set("unseen", undefined);
  await viewer.ended;
  assert.ok(viewer.response.complete);
  assert.doesNotMatch(viewer.text(), /revoked/);
});
