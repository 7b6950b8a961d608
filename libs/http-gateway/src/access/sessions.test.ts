import assert from "node:assert/strict";
import { hash as sha256 } from "node:crypto";
import { describe, test } from "node:test";
import type { Mesh } from "@svc/mesh";
import type { accounts } from "@svc/proto";
import { app } from "../testing/contracts.ts";
import { startGatewayFixture } from "../testing/gateway-fixture.ts";
import { createSessions } from "./sessions.ts";

const hash = "a".repeat(64);
const live: accounts.SessionAnswer = {
  state: "live",
  user_id: "usr-1",
  username: "ada",
  role: "admin",
  setup: false,
  expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  host: "operator",
};

/** Sessions whose requests to identity are answered when the test says so. */
function openSessions() {
  const asked: { isUse: boolean; answer: () => void }[] = [];
  const mesh = {
    call: (_contract: unknown, input: { is_use: boolean }) =>
      new Promise((answer) => {
        asked.push({ isUse: input.is_use, answer: () => answer(live) });
      }),
    listen: () => () => {},
  } as unknown as Pick<Mesh, "call" | "listen">;
  return { asked, sessions: createSessions(mesh, { cacheMs: 5_000, size: 10 }) };
}

describe("a session that is polled and used", () => {
  test("is asked for again by its first use after a poll, and polls share the answer of a use", async () => {
    const { asked, sessions } = openSessions();
    const polled = sessions.ask(hash, false, {});
    asked[0]?.answer();
    await polled;
    assert.ok(sessions.recall(hash, false));
    assert.equal(sessions.recall(hash, true), undefined);
    const used = sessions.ask(hash, true, {});
    asked[1]?.answer();
    await used;
    assert.deepEqual([sessions.recall(hash, true), sessions.recall(hash, false)], [live, live]);
    assert.deepEqual(
      asked.map(({ isUse }) => isUse),
      [false, true],
    );
  });

  test("is not hidden behind a poll that still waits for its answer", async () => {
    const { asked, sessions } = openSessions();
    const polled = sessions.ask(hash, false, {});
    const used = sessions.ask(hash, true, {});
    const again = sessions.ask(hash, false, {});
    assert.deepEqual(
      asked.map(({ isUse }) => isUse),
      [false, true],
    );
    for (const { answer } of asked.toReversed()) answer();
    await Promise.all([polled, used, again]);
    assert.ok(sessions.recall(hash, true), "the late answer to the poll replaces nothing");
  });
});

test("a request with X-Svc-Background is a poll, any other request a use", async () => {
  const fixture = await startGatewayFixture();
  try {
    fixture.owner.serve(app, ({ principal, client, requestId, traceparent }, input) => {
      return { principal, client, request_id: requestId, traceparent, input };
    });
    const face = await fixture.startFace();
    const cookie = "a".repeat(43);
    fixture.sessions.set(sha256("sha256", cookie), { ...live, host: "player", role: "user" });
    const send = async (headers: Record<string, string> = {}) =>
      (await fetch(`${face.url}/app`, { headers: { cookie: `svc_session=${cookie}`, ...headers } })).status;
    const poll = { "x-svc-background": "true" };
    const asked = [];
    for (const headers of [poll, poll, {}, {}, poll]) {
      assert.equal(await send(headers), 200);
      asked.push(fixture.asked());
    }
    assert.deepEqual(asked, [1, 1, 2, 2, 2]);
  } finally {
    await fixture.close();
  }
});
