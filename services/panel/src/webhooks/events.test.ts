import assert from "node:assert/strict";
import { test } from "node:test";
import { webhooks } from "@svc/proto";
import { eventRights, offeredEvents, platformEvents, serverEvents } from "./events.ts";

test("the events and the rights that they need are those of the contracts", () => {
  assert.deepEqual(serverEvents, webhooks.ServerEventType.options);
  assert.deepEqual(platformEvents, webhooks.PlatformEventType.options);
  assert.deepEqual(eventRights, webhooks.eventRights);
});

test("events that a member may not be told are not offered", () => {
  const server = { name: "survival" };
  assert.deepEqual(
    offeredEvents(server, () => true),
    serverEvents,
  );
  const withoutPlayers = offeredEvents(server, (right) => right !== "players");
  assert.deepEqual(
    serverEvents.filter((event) => !withoutPlayers.includes(event)),
    ["player.joined", "player.left"],
  );
  assert.deepEqual(
    offeredEvents("platform", () => false),
    platformEvents,
  );
});
