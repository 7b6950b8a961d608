// Who sees what of a server: the rows that gateways make of the views, and this service when it is asked.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { account, staff as asStaff, tokenOf } from "@svc/mesh/testing";
import { type Principal, rowFor, serverRows } from "@svc/proto";
import type { Server } from "../cluster/resource.ts";
import type { ServerRow } from "../database/server-row.ts";
import { aServer, emptyRunning, secondsBefore } from "../testing/observed.ts";
import { toServerInfo } from "./info.ts";
import { type OwnerNames, toOwnership } from "./server-ownership.ts";

const names: OwnerNames = {
  owners: { "usr-1": { name: "a@example.org", players: ["never-seen", "seen"] } },
  playerNames: { seen: "Alice" },
};
const free: ServerRow = { ownerId: undefined, retiring: undefined, offered: true };
const owned: ServerRow = { ...free, ownerId: "usr-1" };
const retiring = { requested_at: secondsBefore(1), delete: true };
const running: Server = {
  ...aServer({ displayName: "Survival", autostartPolicy: "public" }),
  status: { ...emptyRunning, players: { online: 2, max: 20 } },
};
const ofPlatform = aServer({}, { labels: { "svc.internal/system-role": "login" } });

const owner = principalOf(account("usr-1"));
const other = principalOf(account("usr-2"));
const staff = principalOf(asStaff);
const nobody: Principal = { kind: "anonymous" };

function principalOf(options: { principal?: Principal }): Principal {
  assert.ok(options.principal);
  return options.principal;
}
const ownershipOf = (row: ServerRow | undefined, server: Server | undefined = running) =>
  toOwnership({ name: "survival", server, exists: true, row, subdomain: "world" }, names);
const infoOf = (server: Server) =>
  toServerInfo(server, { auto_restarts: 3, stop_notice: 30_000, keep_awake_longest: 604_800_000 });

describe("in the fleet", () => {
  const rowOf = (row: ServerRow | undefined, server = running, who = staff) => {
    const shown = rowFor(serverRows.fleetRows, who, {
      entry: infoOf(server),
      beside: ownershipOf(row, server),
    });
    assert.deepEqual(serverRows.fleetRows.row.parse(shown), shown);
    assert.ok(shown);
    return shown;
  };
  test("an owner has the name of the first player who was seen", () => {
    assert.equal(rowOf(owned).ownerPlayer, "Alice");
    assert.equal("ownerPlayer" in rowOf(free), false);
  });
  test("a server is found by its tags, in a search and by the tag alone", () => {
    const tagged = {
      ...running,
      spec: { ...running.spec, tags: [{ name: "event night", colour: "red" as const }] },
    };
    const { listedAs } = serverRows.fleetRows;
    const listed = listedAs?.(rowOf(owned, tagged));
    assert.deepEqual(listed?.filters["tag"], ["event night"]);
    assert.match(listed?.text ?? "", /^event night$/m);
    assert.deepEqual(listedAs?.(rowOf(owned)).filters["tag"], []);
  });
  test("the caller's own server is owned and not claimable", () => {
    const own = rowOf(owned, running, owner);
    assert.deepEqual([own.owned, own.claimable, own.owner], [true, false, "a@example.org"]);
    assert.equal(rowOf(owned).owned, false);
  });
  test("an account without a name is an unknown owner", () =>
    assert.equal(rowOf({ ...free, ownerId: "usr-2" }).ownerUnknown, true));
  test("a server without an owner is claimable, and one that is being deleted is not", () => {
    assert.equal(rowOf(undefined).claimable, true);
    const going = rowOf({ ...free, retiring });
    assert.deepEqual([going.claimable, going.retiring], [false, retiring]);
  });
  test("a system server is not claimable and is marked as one", () => {
    const { claimable, system } = rowOf(undefined, ofPlatform);
    assert.deepEqual({ claimable, system }, { claimable: false, system: true });
  });
});

describe("the status of one server", () => {
  const keysOf = (who: Principal, row = owned) => {
    const shown = rowFor(serverRows.statusRows, who, { entry: infoOf(running), beside: ownershipOf(row) });
    return shown && Object.keys(shown).sort();
  };
  const seven = ["displayName", "name", "phase", "playersMax", "playersOnline", "ready", "subdomain"];
  test("others see seven fields", () => {
    assert.deepEqual(keysOf(other), seven);
    assert.deepEqual(keysOf(nobody), seven);
    assert.deepEqual(keysOf(owner, free), seven);
  });
  test("its owner and staff see all of them, and a pending retirement", () => {
    for (const who of [owner, staff])
      assert.ok(keysOf(who, { ...owned, retiring })?.includes("retiring"), who.kind);
  });
  test("a reserved name is left to the owner of the operation", () => {
    const info = { ...infoOf(running), name: "lobby" };
    assert.equal(rowFor(serverRows.statusRows, staff, { entry: info, beside: ownershipOf(free) }), undefined);
  });
});

describe("to a token for some servers", () => {
  const rights = ["see"] as const;
  const tokenFor = (userId: string, ...servers: string[]) =>
    principalOf(tokenOf(userId, { rights: [...rights], servers }));
  const facts = { name: "survival", ownerId: "usr-1", members: [], claimable: false };
  const cases: [who: string, caller: Principal, row: ServerRow, own: boolean, listed: boolean][] = [
    ["its owner's token for it", tokenFor("usr-1", "survival"), owned, true, true],
    ["its owner's token for another", tokenFor("usr-1", "creative"), owned, false, false],
    ["its owner's token for all", principalOf(tokenOf("usr-1", { rights: [...rights] })), owned, true, true],
    ["somebody else's token for it", tokenFor("usr-2", "survival"), owned, false, false],
    ["a token for it, when it can be claimed", tokenFor("usr-2", "survival"), free, false, true],
    ["a token for another, when it can be claimed", tokenFor("usr-2", "creative"), free, false, false],
  ];
  for (const [who, caller, row, own, listed] of cases) {
    test(`${who}: a server ${listed ? "is" : "is not"} listed and ${own ? "is" : "is not"} shown whole`, () => {
      const entry = ownershipOf(row);
      const mine = rowFor(serverRows.myRows, caller, { entry, beside: infoOf(running) });
      assert.deepEqual([mine !== undefined, mine?.owned === true], [listed, own]);
      const status = rowFor(serverRows.statusRows, caller, { entry: infoOf(running), beside: entry });
      assert.equal(status !== undefined && "desiredState" in status, own);
      const { ownerId } = row;
      const known = { ...facts, ownerId, claimable: ownerId === undefined };
      assert.equal(serverRows.serverChangeRights.hears(known, caller, "backup"), own);
      assert.equal(serverRows.serverChangeRights.hears(known, caller, "server"), listed);
    });
  }
  const memberOf = (more: object) => ({
    ...{ id: "mem-1", user_id: "usr-3", rights: ["see" as const], joined_at: "2026-01-01T00:00:00Z" },
    ...{ invited_by: "usr-1", inviter_name: "ada", ...more },
  });
  const members: [who: string, member: ReturnType<typeof memberOf>, caller: Principal, isShown: boolean][] = [
    ["a member", memberOf({}), principalOf(account("usr-3")), true],
    [
      "a member until later",
      memberOf({ ends_at: "2999-01-01T00:00:00Z" }),
      principalOf(account("usr-3")),
      true,
    ],
    [
      "a member whose end has come",
      memberOf({ ends_at: "2020-01-01T00:00:00Z" }),
      principalOf(account("usr-3")),
      false,
    ],
    ["a member without see", memberOf({ rights: ["power"] }), principalOf(account("usr-3")), false],
    ["somebody else", memberOf({}), principalOf(account("usr-4")), false],
    ["a member's token for it", memberOf({}), tokenFor("usr-3", "survival"), true],
    ["a member's token for another", memberOf({}), tokenFor("usr-3", "creative"), false],
  ];
  for (const [who, member, caller, isShown] of members) {
    test(`${who}: a server that is shared ${isShown ? "is" : "is not"} listed, shown whole and heard of`, () => {
      const entry = ownershipOf({ ...owned, members: [member] });
      const mine = rowFor(serverRows.myRows, caller, { entry, beside: infoOf(running) });
      assert.deepEqual(
        mine && [mine.owned, mine.claimable, mine.desiredState !== undefined],
        isShown ? [false, false, true] : undefined,
      );
      const status = rowFor(serverRows.statusRows, caller, { entry: infoOf(running), beside: entry });
      assert.equal(status !== undefined && "desiredState" in status, isShown);
      const known = serverRows.serverChangeRights.factsOf(infoOf(running), entry);
      for (const type of ["backup", "server"] as const)
        assert.equal(serverRows.serverChangeRights.hears(known, caller, type), isShown);
      assert.ok(!JSON.stringify([mine ?? null, status ?? null]).includes("usr-3"));
    });
  }
  test("nothing is heard of a server whose name is not known", () => {
    const nameless = serverRows.serverChangeRights.factsOf(undefined, undefined);
    assert.equal(
      serverRows.serverChangeRights.hears(nameless, tokenFor("usr-1", "survival"), "server"),
      false,
    );
  });
});

describe("in the caller's list", () => {
  const rowOf = (row: ServerRow, server: Server | undefined = running, who = owner) =>
    rowFor(serverRows.myRows, who, {
      entry: ownershipOf(row, server),
      beside: server && infoOf(server),
    });
  const noObject = (row: ServerRow, who: Principal) => {
    const gone = { name: "survival", server: undefined, exists: false, subdomain: "world" };
    const entry = toOwnership({ ...gone, row }, names);
    return rowFor(serverRows.myRows, who, { entry, beside: undefined });
  };
  const shared = {
    name: "survival",
    subdomain: "world",
    playersOnline: 2,
    playersMax: 20,
    phase: "Running",
    displayName: "Survival",
  };
  test("a claimable server shows no owner's fields", () => {
    assert.deepEqual(rowOf(free), { ...shared, owned: false, claimable: true });
  });
  test("an owned server shows the owner's fields", () => {
    assert.deepEqual(rowOf({ ...owned, retiring }), {
      ...{ ...shared, owned: true, claimable: false, desiredState: "Running", autostartPolicy: "public" },
      retiring,
    });
  });
  test("an owner sees how a start goes, and who may claim the server does not", () => {
    const startDurations = { image: "a", seconds: [40, 40, 40, 40, 40] };
    const status = { phase: "Starting" as const, startRequestedAt: retiring.requested_at, startDurations };
    const reason = { reason: "PodNotReady", message: "", lastTransitionTime: retiring.requested_at };
    const conditions = [{ type: "Ready", status: "False" as const, ...reason }];
    const starting = { ...running, status: { ...status, conditions } };
    const shown = rowOf(owned, starting);
    assert.deepEqual(shown?.startEstimate, { p50: 40, p95: 40 });
    assert.deepEqual([shown?.startRequestedAt, shown?.conditions], [retiring.requested_at, conditions]);
    const others = Object.keys(rowOf(free, starting) ?? {});
    assert.ok(!others.some((key) => key.startsWith("start") || key === "conditions"));
  });
  test("it has neither phase nor display name nor players while the cluster is away", () => {
    assert.deepEqual(noObject(owned, owner), {
      ...{ name: "survival", subdomain: "world", owned: true, claimable: false },
      ...{ playersOnline: 0, playersMax: 0 },
    });
  });
  const hidden: [what: string, row: ServerRow, server: Server | undefined, who: Principal][] = [
    ["a server of somebody else", owned, running, other],
    ["a server of somebody else, from staff too", owned, running, staff],
    ["a server that is being given up", { ...free, retiring }, running, other],
    ["a server that is not offered", { ...free, offered: false }, running, other],
    ["a server of the platform", free, ofPlatform, other],
    ["everything, from a caller without an account", free, running, nobody],
  ];
  for (const [what, row, server, who] of hidden)
    test(`it leaves out ${what}`, () => assert.equal(rowOf(row, server, who), undefined));
  test("it leaves out a claimable server whose object is gone", () =>
    assert.equal(noObject(free, other), undefined));
});
