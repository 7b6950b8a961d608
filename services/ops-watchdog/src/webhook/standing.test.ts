// Whose webhook it is, and what it may be told, as tables (docs/reference/webhooks.md#rights, #end).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type MemberRight, memberRights, webhooks } from "@svc/proto";
import { closedTo, decideStanding } from "./standing.ts";

describe("whose webhook it is", () => {
  const now = Date.now();
  const member = (rights: MemberRight[], ends_at?: string) => ({
    ...{ user_id: "usr-2", rights },
    ...(ends_at !== undefined && { ends_at }),
  });
  const of = (owner_id: string | null, saved_by: string, events = ["server.ready"]) => ({
    ...{ owner_id, saved_by, events },
  });
  const own = of("usr-1", "usr-1");
  const theirs = of("usr-1", "usr-2");
  const players = of("usr-1", "usr-2", ["server.ready", "player.left"]);
  const shared = (...members: ReturnType<typeof member>[]) => ({ owner_id: "usr-1", members });
  const over = new Date(now - 1).toISOString();
  const table: [
    fact: string,
    saved: Parameters<typeof decideStanding>[0],
    sharing: Parameters<typeof decideStanding>[2]["sharing"],
    standing: string,
    type?: webhooks.WebhookEventType,
    isDisabled?: boolean,
  ][] = [
    ["of the installation", of(null, "usr-9"), undefined, "stands"],
    ["of the installation, of an event that it no longer has", of(null, "u", []), undefined, "event_removed"],
    ["of the owner", own, shared(), "stands"],
    ["of the owner, a ping", own, shared(), "stands", "ping"],
    ["of the owner, of an event that it no longer has", own, shared(), "event_removed", "player.joined"],
    ["of an owner whose account is disabled", own, shared(), "access_ended", "server.ready", true],
    [
      ...(["saved by a member while the owner's account is disabled", theirs] as const),
      ...([shared(member(["settings"])), "stands"] as const),
    ],
    ["of a server that is gone", own, undefined, "owner_gone"],
    ["of a server of nobody", own, { members: [] }, "owner_gone"],
    ["of a server of another", own, { owner_id: "usr-3", members: [] }, "owner_gone"],
    ["of another, by a disabled one", own, { owner_id: "usr-3", members: [] }, "owner_gone", "ping", true],
    ["saved by a member", theirs, shared(member(["settings"])), "stands"],
    ["saved by one who left", theirs, shared(), "access_ended"],
    ["saved by one who lost the right", theirs, shared(member(["see"])), "access_ended"],
    ["saved by one whose access is over", theirs, shared(member(["settings"], over)), "access_ended"],
    ["of players, saved by one who sees them", players, shared(member(["settings", "players"])), "stands"],
    ["of players, saved by one who no longer does", players, shared(member(["settings"])), "access_ended"],
    [
      ...(["saved by a member whose account is disabled", theirs, shared(member(["settings"]))] as const),
      ...(["access_ended", "server.ready", true] as const),
    ],
    [
      ...(["of an event that a member took off it", theirs, shared(member(["settings"]))] as const),
      ...(["event_removed", "player.joined"] as const),
    ],
  ];
  for (const [fact, saved, sharing, standing, type = "server.ready", isDisabled = false] of table)
    test(fact, () => assert.equal(decideStanding(saved, type, { sharing, isDisabled, now }), standing));
});

describe("what a member may be told", () => {
  const all = webhooks.ServerEventType.options;
  const table: [rights: MemberRight[], closed: string[]][] = [
    [
      ["see", "settings"],
      ["player.joined", "player.left", "schedule.failed"],
    ],
    [["see", "settings", "players"], ["schedule.failed"]],
    [
      ["see", "settings", "schedules"],
      ["player.joined", "player.left"],
    ],
    [[...memberRights], []],
  ];
  for (const [rights, closed] of table)
    test(`with ${rights.join(", ")}`, () => assert.deepEqual(closedTo(rights, all), closed));
});
