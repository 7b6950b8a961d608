import assert from "node:assert/strict";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { accounts, eventFilter, eventSubject, liveSubject, members } from "@svc/proto";
import * as contracts from "../testing/contracts.ts";
import { openEvents } from "../testing/event-viewer.ts";
import { type GatewayFixture, type RunningFace, startGatewayFixture } from "../testing/gateway-fixture.ts";
import { send } from "../testing/raw-request.ts";

let fixture: GatewayFixture;
let face: RunningFace;
let cookie: string;
let hash: string;
/** Whether the owner lets the viewer of a console see it. */
let mayWatch = true;

before(async () => {
  fixture = await startGatewayFixture();
  cookie = randomBytes(32).toString("base64url");
  hash = createHash("sha256").update(cookie).digest("hex");
  signIn();
  fixture.owner.serve(contracts.watch, (context, { id }) => {
    if (!mayWatch) throw context.fault("forbidden");
    context.reply.stream = {
      stream: "LIFECYCLE_LIVE",
      subject: liveSubject("lifecycle", "console", id),
      tail: 3,
    };
    return null;
  });
  face = await fixture.startFace();
});
after(() => fixture.close());

function signIn(): void {
  fixture.sessions.set(hash, {
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
}

describe("views", () => {
  test("the owner answers while there is no view; then cached bytes do, with an ETag and an age", async () => {
    let asked = 0;
    fixture.owner.serve(contracts.kept, () => {
      asked++;
      return { items: [{ name: "from-owner", size: 0 }] };
    });
    fixture.owner.serve(contracts.keptItem, (context, { id }) => {
      asked++;
      if (id === "late") return { name: "late", size: 9 };
      throw context.fault("not_found");
    });
    const own = await fixture.startFace({ settings: { viewRebuildMs: 50, unchangedLogMs: 100 } });
    const list = (headers: Record<string, string> = {}) => send(own.port, { path: "/things", headers });
    assert.deepEqual((await list()).json(), { things: [{ name: "from-owner", size: 0 }] });
    assert.equal(asked, 1);

    const writer = await fixture.owner.writeView(contracts.things);
    const thing = (name: string, size: number) => [name, { name, size }] as const;
    await writer.replace(new Map([thing("b", 2), thing("a", 1)]));
    const both = {
      things: [
        { name: "a", size: 1 },
        { name: "b", size: 2 },
      ],
    };
    await until(async () => (await list()).body === JSON.stringify(both), 10_000, "the view");
    const before = asked;
    const first = await list();
    assert.match(first.headers["etag"] ?? "", /^"[^"]+"$/);
    assert.match(first.headers["age"] ?? "", /^\d+$/);
    const same = await list({ "if-none-match": `W/"x", ${first.headers["etag"]}` });
    assert.equal(same.status, 304);
    assert.equal(same.body, "");
    assert.equal(same.headers["etag"], first.headers["etag"]);
    assert.equal(asked, before, "the owner was not asked again");

    await writer.remove("b");
    await until(
      async () => (await list()).body === JSON.stringify({ things: [{ name: "a", size: 1 }] }),
      10_000,
      "the change",
    );
    assert.notEqual((await list()).headers["etag"], first.headers["etag"]);

    const item = await send(own.port, { path: "/things/a" });
    assert.deepEqual(item.json(), { name: "a", size: 1 });
    const tag = { "if-none-match": item.headers["etag"] ?? "" };
    assert.equal((await send(own.port, { path: "/things/a", headers: tag })).status, 304);
    assert.equal(asked, before);
    const polls = () => own.log.filter((line) => line["msg"] === "unchanged polls");
    await until(() => polls().length === 2, 10_000, "the log of both polls");
    assert.ok(!own.log.some((line) => line["msg"] === "request" && line["status"] === 304));
    const seen = polls()
      .map(({ method, route, count }) => [method, route, count])
      .sort();
    assert.deepEqual(seen, [
      ["GET", "/things", 1],
      ["GET", "/things/{id}", 1],
    ]);
    assert.deepEqual((await send(own.port, { path: "/things/late" })).json(), { name: "late", size: 9 });
    assert.equal((await send(own.port, { path: "/things/gone" })).status, 404);
    assert.equal((await send(own.port, { path: "/things/_meta" })).status, 404);
  });
});

const view = (port: number, id: string, headers?: Record<string, string>) =>
  openEvents({ port, path: `/things/${id}/console`, cookie, ...(headers && { headers }) });

const say = (id: string, line: string) =>
  fixture.owner.publishLiveLine({ owner: "lifecycle", noun: "console", key: id }, Buffer.from(line));

describe("event streams", () => {
  test("a viewer gets the tail, then every line with the second in which it was written", async () => {
    for (const line of ["one", "two", "three", "four"]) await say("tail", line);
    const viewer = await view(face.port, "tail");
    assert.equal(viewer.response.headers["content-type"], "text/event-stream; charset=utf-8");
    assert.equal(viewer.response.headers["x-content-type-options"], "nosniff");
    await until(() => viewer.text().includes("four"), 10_000, "the tail");
    await say("tail", "five");
    await until(() => viewer.text().includes("five"), 10_000, "the live line");
    assert.ok(!viewer.text().includes("one"));
    assert.match(viewer.text(), /id: \d{10}\ndata: two\n\nid: \d{10}\ndata: three\n\n/);
    viewer.leave();
  });

  test("many viewers of one console share one upstream reader, and each gets its tail", async () => {
    let readers = 0;
    const counted = {
      ...fixture.gateway,
      readLiveLog: (...args: Parameters<typeof fixture.gateway.readLiveLog>) => {
        readers++;
        return fixture.gateway.readLiveLog(...args);
      },
    };
    const own = await fixture.startFace({ mesh: counted });
    await say("shared", "past");
    const first = await view(own.port, "shared");
    await until(() => first.text().includes("past"), 10_000, "the past");
    const others = await Promise.all([1, 2, 3].map(() => view(own.port, "shared")));
    await say("shared", "now");
    for (const one of [first, ...others]) {
      await until(() => one.text().includes("past") && one.text().includes("now"), 10_000, "both lines");
      assert.equal(one.text().match(/data: past/g)?.length, 1);
    }
    assert.equal(readers, 1);
    for (const one of [first, ...others]) one.leave();
  });

  test("Last-Event-ID within the hour resumes from that second; an older one is ignored", async () => {
    await say("resume", "early");
    const now = Math.floor(Date.now() / 1_000);
    for (const line of ["a", "b", "c", "d"]) await say("resume", line);
    const resumed = await view(face.port, "resume", { "last-event-id": String(now - 60) });
    await until(() => resumed.text().includes("data: d"), 10_000, "everything since");
    assert.ok(resumed.text().includes("data: early"));
    const old = await view(face.port, "resume", { "last-event-id": String(now - 4_000) });
    await until(() => old.text().includes("data: d"), 10_000, "the tail");
    assert.ok(!old.text().includes("data: early"));
    resumed.leave();
    old.leave();
  });

  test("a refusal is an ordinary error before the stream opens", async () => {
    mayWatch = false;
    const answer = await send(face.port, {
      path: "/things/x/console",
      headers: { cookie: `svc_session=${cookie}` },
    });
    mayWatch = true;
    assert.equal(answer.status, 403);
    assert.equal((await send(face.port, { path: "/things/x/console" })).status, 401);
  });

  for (const [what, lose, restore] of [
    ["the session", () => fixture.sessions.delete(hash), signIn],
    ["the access", () => (mayWatch = false), () => (mayWatch = true)],
  ] as const) {
    test(`a stream ends with revoked when ${what} is gone`, async () => {
      const own = await fixture.startFace({ settings: { streamRecheckMs: 80 } });
      const viewer = await view(own.port, "revoked");
      lose();
      await viewer.ended;
      restore();
      assert.match(viewer.text(), /event: revoked\ndata: revoked\n\n$/);
    });
  }

  test("a stream whose viewer has lost access ends at the event that says so, and no other does", async () => {
    const mine = await view(face.port, "shared");
    const other = await view(face.port, "other");
    mayWatch = false;
    const data = { name: "shared", at: new Date().toISOString() };
    const subject = eventSubject(members.accessChanged, data);
    await fixture.owner.publish([{ id: randomUUID(), subject, body: Buffer.from(JSON.stringify(data)) }]);
    await mine.ended;
    mayWatch = true;
    assert.match(mine.text(), /event: revoked\ndata: revoked\n\n$/);
    await say("other", "still here");
    await until(() => other.text().includes("still here"), 10_000, "the line");
    other.leave();
  });

  test("revoking a session ends its streams at once, and no others", async () => {
    const other = randomBytes(32).toString("base64url");
    const otherHash = createHash("sha256").update(other).digest("hex");
    fixture.sessions.set(otherHash, fixture.sessions.get(hash) ?? { state: "unknown" });
    const mine = await view(face.port, "at-once");
    const theirs = await view(face.port, "at-once", { cookie: `svc_session=${other}` });
    await revokeEverywhere(otherHash);
    await theirs.ended;
    assert.match(theirs.text(), /event: revoked\ndata: revoked\n\n$/);
    await say("at-once", "still here");
    await until(() => mine.text().includes("still here"), 10_000, "the line");
    assert.ok(!mine.text().includes("revoked"));
    mine.leave();
  });

  test("a session that is revoked while its stream opens gets no stream", async () => {
    const own = await fixture.startFace({ mesh: { ...fixture.gateway, forward: slowly(fixture.gateway) } });
    const viewer = await view(own.port, "too-late");
    assert.equal(viewer.response.statusCode, 401);
  });

  function slowly(mesh: GatewayFixture["gateway"]): GatewayFixture["gateway"]["forward"] {
    return async (...args) => {
      let isHeard = false;
      const stop = mesh.listen(eventFilter(accounts.sessionRevoked), () => (isHeard = true));
      // The server may learn of the subscription only after the first.
      await until(
        async () => {
          await revokeEverywhere(hash);
          return isHeard;
        },
        10_000,
        "the event",
      );
      stop();
      return mesh.forward(...args);
    };
  }

  function revokeEverywhere(of: string): Promise<void> {
    const data = { hash: of, user_id: "usr-1", at: new Date().toISOString() };
    const subject = eventSubject(accounts.sessionRevoked, data);
    return fixture.identity.publish([
      { id: randomBytes(8).toString("hex"), subject, body: Buffer.from(JSON.stringify(data)) },
    ]);
  }

  test("a stream ends after the last line of its source", async () => {
    const viewer = await view(face.port, "ending");
    await say("ending", "one");
    await until(() => viewer.text().includes("one"), 10_000, "the line");
    const place = { owner: "lifecycle", noun: "console", key: "ending" } as const;
    await fixture.owner.endLiveLog(place, Buffer.from("the end"));
    await viewer.ended;
    assert.match(viewer.text(), /data: the end\n\n$/);
    assert.ok(viewer.response.complete);
    const again = await view(face.port, "ending");
    await say("ending", "begun anew");
    await until(() => again.text().includes("begun anew"), 10_000, "the new line");
    assert.ok(again.text().includes("the end"));
    again.leave();
  });

  test("open streams, lines and dropped lines are counted", async () => {
    const own = await fixture.startFace();
    const viewer = await view(own.port, "counted");
    await say("counted", "one");
    await until(() => viewer.text().includes("one"), 10_000, "the line");
    const text = await own.registry.metrics();
    assert.match(text, /^svc_event_streams_open(\{[^}]*\})? 1$/m);
    assert.match(text, /^svc_event_stream_lines_total(\{[^}]*\})? 1$/m);
    assert.match(text, /^svc_event_stream_lines_dropped_total(\{[^}]*\})? 0$/m);
    viewer.leave();
  });

  test("a stream stays open while identity is unreachable", async () => {
    const lonely = await startGatewayFixture();
    try {
      lonely.sessions.set(hash, fixture.sessions.get(hash) ?? { state: "unknown" });
      lonely.owner.serve(contracts.watch, (context, { id }) => {
        const subject = liveSubject("lifecycle", "console", id);
        context.reply.stream = { stream: "LIFECYCLE_LIVE", subject, tail: 3 };
        return null;
      });
      const own = await lonely.startFace({ settings: { streamRecheckMs: 30, streamKeepAliveMs: 40 } });
      const viewer = await view(own.port, "kept");
      await lonely.identity.drain(200);
      await until(() => (viewer.text().match(/: alive/g)?.length ?? 0) > 5, 10_000, "a while");
      assert.ok(!viewer.text().includes("revoked"));
      assert.equal(viewer.response.complete, false);
      viewer.leave();
    } finally {
      await lonely.close();
    }
  });

  test("an idle stream is kept alive by comments and ends after its lifetime", async () => {
    const own = await fixture.startFace({ settings: { streamKeepAliveMs: 40, streamLifetimeMs: 400 } });
    const viewer = await view(own.port, "quiet");
    await viewer.ended;
    assert.match(viewer.text(), /: alive\n\n/);
    assert.ok(!viewer.text().includes("revoked"));
    assert.ok(viewer.response.complete);
  });

  test("one account may have a limited number of streams, and a closed one frees its slot", async () => {
    const own = await fixture.startFace({ settings: { streamsPerAccount: 2 } });
    const viewers = await Promise.all([view(own.port, "many"), view(own.port, "many")]);
    const third = await view(own.port, "many");
    assert.equal(third.response.statusCode, 429);
    await until(() => third.text().includes("too_many_streams"), 10_000, "the refusal");
    viewers[0]?.leave();
    await until(
      async () => {
        const again = await view(own.port, "many");
        again.leave();
        return again.response.statusCode === 200;
      },
      10_000,
      "a free place",
    );
    viewers[1]?.leave();
  });

  test("closing the face ends its streams", async () => {
    const own = await fixture.startFace();
    const viewer = await view(own.port, "closing");
    await own.server.close();
    await viewer.ended;
    assert.ok(viewer.response.complete);
  });

  test("a viewer that does not read loses lines, then its connection; other viewers lose nothing", async () => {
    const settings = { streamBufferBytes: 64 * 1024, streamStuckMs: 300 };
    const own = await fixture.startFace({ settings });
    const socket = connect({ host: "127.0.0.1", port: own.port });
    socket.on("error", () => {});
    socket.write(`GET /things/slow/console HTTP/1.1\r\nHost: a\r\nCookie: svc_session=${cookie}\r\n\r\n`);
    await once(socket, "data");
    socket.pause();
    const good = await view(own.port, "slow");
    const line = "x".repeat(100_000);
    for (let count = 0; count < 120; count++) {
      await say("slow", `${line}${count};`);
      // A viewer that reads is only good while it has the processor: the next line waits for it.
      await until(() => good.text().endsWith(`x${count};\n\n`), 20_000, "the line is at the good viewer");
    }
    assert.equal(good.text().match(/^data: /gm)?.length, 120);
    await until(
      () => own.log.some((entry) => entry["route"] === "/things/{id}/console"),
      20_000,
      "the slow one closed",
    );
    good.leave();
    socket.destroy();
  });
});
