import assert from "node:assert/strict";
import { test } from "node:test";
import { controlChannel, encodeControl } from "@svc/minecraft";
import { runningAt, serverInfo, startBed } from "./testing/bed.ts";
import { refusal } from "./testing/service.ts";

const limit = { timeout: 40_000 };
const host = "survival.play.example";

test("a linked player who types a running server's address passes the gate and is in it", limit, async () => {
  await using bed = await startBed();
  bed.service.servers.set("survival", runningAt("survival", bed.survival));
  await bed.restart();
  const alice = bed.account("alice");
  await bed.pass(alice, host);
  const session = await bed.survival.player("alice");
  assert.equal(session.player.profile.uuid, alice.uuid);
  assert.equal(bed.lobby.players.size, 0);
  const report = `POST /api/v1/internal/servers/survival/join-event {"mc_uuid":"${alice.uuid}"}`;
  await bed.survival.until(() => bed.service.calls.includes(report) || undefined);
  assert(!bed.service.calls.some((call) => call.includes("/wake")));
});
