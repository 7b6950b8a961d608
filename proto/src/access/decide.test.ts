// Every external operation × every right × every kind of caller (docs/reference/shared-access.md#decision).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Operation, operations } from "../catalog.ts";
import type { Principal } from "../envelope.ts";
import { type MemberRight, memberRights, type Right, rights } from "../right.ts";
import { type Asked, decideAccess, type SharedServer } from "./decide.ts";
import type { AccessLimits, MemberFacts } from "./grant.ts";
import { askedBy } from "./rights-of.ts";

const now = Date.parse("2026-06-01T00:00:00.000Z");
const past = "2026-05-31T23:59:59.999Z";
const external = operations.filter(({ http }) => http.faces.includes("external"));
const aboutServers = external.filter(({ http, params }) => http.tier === "app" && "name" in params.shape);

const account = (user_id: string, more: object = {}): Principal => ({
  ...{ kind: "account", user_id, username: user_id, role: "user", staff: false, setup: false, session: "" },
  ...more,
});
const withToken = (user_id: string, given: readonly MemberRight[], servers?: string[]) =>
  account(user_id, { token: { id: "tok", rights: given, ...(servers && { servers }) } });
const member = (given: readonly MemberRight[], more: Partial<MemberFacts> = {}): MemberFacts => ({
  user_id: "usr-member",
  rights: [...given],
  ...more,
});
const sharedWith = (...members: MemberFacts[]): SharedServer => ({
  name: "alpha",
  ownerId: "usr-owner",
  members,
});
const may = (principal: Principal, server: SharedServer, asked: Asked) =>
  decideAccess(principal, server, { ...asked, now }).isAllowed;
const refusal = (principal: Principal, server: SharedServer, asked: Asked) => {
  const verdict = decideAccess(principal, server, { ...asked, now });
  return verdict.isAllowed ? `allowed as ${verdict.as}` : verdict.refusal;
};

/** Operations about one server that nothing but ownership opens; staff have what they have. */
const ownerOnly = [
  "lifecycle.ownership.cancel-retirement",
  "lifecycle.ownership.claim",
  "lifecycle.ownership.retire",
  "lifecycle.status-page.read",
  "lifecycle.status-page.write",
];

describe("every operation of the tier app about one server", () => {
  test("asks for rights that can be shared, or is listed as the owner's alone", () => {
    const closed = aboutServers.filter((operation) => askedBy(operation).rights === "owner");
    assert.deepEqual(closed.map(({ subject }) => subject).sort(), ownerOnly);
  });
  test("never lets an API token invite, see members or decide about them", () => {
    const ofPeople = aboutServers.filter(({ http }) => http.memberRights !== undefined);
    assert.ok(ofPeople.length >= 6);
    for (const { subject, http } of ofPeople) assert.equal(http.rights, undefined, subject);
    assert.ok(!(rights as readonly string[]).includes("invite"));
  });
  test("needs `see` or a right that no access is without", () => {
    for (const { subject, http } of aboutServers)
      if (http.rights?.length === 0 || http.memberRights?.length === 0) assert.fail(subject);
  });
});

for (const operation of aboutServers) {
  const { rights: asked } = askedBy(operation);
  describe(`${operation.subject} (${asked === "owner" ? "owner only" : asked.join(", ")})`, () =>
    matrix(operation));
}

function matrix(operation: Operation): void {
  const asked = askedBy(operation);
  const { rights: needed } = asked;
  const list = needed === "owner" ? [] : needed;
  const isShared = needed !== "owner";
  const takesTokens = operation.http.rights !== undefined;

  test("its owner may, and staff of the operator console", () => {
    assert.equal(refusal(account("usr-owner"), sharedWith(), asked), "allowed as owner");
    assert.equal(refusal(account("usr-staff", { staff: true }), sharedWith(), asked), "allowed as staff");
    assert.ok(!may(account("usr-staff", { staff: true }), sharedWith(), { ...asked, isClosedToStaff: true }));
  });
  test("nobody else may", () => {
    const all = sharedWith(member(memberRights));
    assert.equal(refusal(account("usr-other"), all, asked), "not_shared");
    for (const principal of [
      { kind: "anonymous" },
      { kind: "caller", caller: "velocity" },
      { kind: "service", service: "storage" },
    ] as const)
      assert.equal(refusal(principal, all, asked), "no_account");
    const nobodys = { name: "alpha", ownerId: undefined, members: [member(memberRights)] };
    for (const id of ["usr-member", "usr-owner", "undefined", ""])
      assert.equal(refusal(account(id), nobodys, asked), "not_shared", id);
  });
  test("a member may with exactly these rights, and with all", () => {
    for (const given of [list, memberRights])
      assert.equal(may(account("usr-member"), sharedWith(member(given)), asked), isShared);
  });
  test("a member may not without one of them, for each", () => {
    for (const right of memberRights) {
      const others = sharedWith(member(memberRights.filter((one) => one !== right)));
      assert.equal(may(account("usr-member"), others, asked), isShared && !list.includes(right), right);
      const alone = sharedWith(member([right]));
      const isEnough = isShared && list.every((one) => one === right);
      assert.equal(may(account("usr-member"), alone, asked), isEnough, `${right} alone`);
    }
    assert.ok(!may(account("usr-member"), sharedWith(member([])), asked));
  });
  test("a member may until the end, and not from then on", () => {
    const until = (ends_at: string) => sharedWith(member(memberRights, { ends_at }));
    assert.equal(may(account("usr-member"), until("2026-06-01T00:00:00.001Z"), asked), isShared);
    for (const over of ["2026-06-01T00:00:00.000Z", past, "2026-06-01T01:00:00.000+02:00", "soon", ""])
      assert.equal(refusal(account("usr-member"), until(over), asked), "expired", over);
  });
  test("an API token may what it and its account may", () => {
    const tokens = takesTokens && isShared;
    for (const [id, server] of [
      ["usr-owner", sharedWith()],
      ["usr-member", sharedWith(member(memberRights))],
    ] as const) {
      assert.equal(may(withToken(id, list as Right[]), server, asked), tokens, id);
      assert.equal(may(withToken(id, rights, ["alpha"]), server, asked), tokens, id);
      assert.ok(!may(withToken(id, rights, ["beta"]), server, asked), id);
      for (const missing of list)
        assert.ok(
          !may(
            withToken(
              id,
              rights.filter((one) => one !== missing),
            ),
            server,
            asked,
          ),
          missing,
        );
    }
    assert.ok(!may(withToken("usr-member", rights), sharedWith(member([])), asked));
    assert.ok(!may(withToken("usr-other", rights), sharedWith(member(memberRights)), asked));
  });
}

describe("limits", () => {
  const limited = (limits: AccessLimits) => sharedWith(member(memberRights, { limits }));
  const as = account("usr-member");
  type Case = [fact: string, limits: AccessLimits, asked: Asked, isAllowed: boolean];
  const cases: Case[] = [
    ["a path within", { read_paths: ["plugins"] }, { rights: ["files.read"], reads: ["plugins/x"] }, true],
    [
      "one of two paths",
      { write_paths: ["plugins"] },
      { rights: ["files.write"], writes: ["plugins/x", "x"] },
      false,
    ],
    [
      "both paths",
      { write_paths: ["plugins"] },
      { rights: ["files.write"], writes: ["plugins/x", "plugins"] },
      true,
    ],
    ["a whole backup, with paths", { read_paths: ["plugins"] }, { rights: ["backups.download"] }, false],
    [
      "a whole backup, with paths of changes",
      { write_paths: ["plugins"] },
      { rights: ["backups.download"] },
      true,
    ],
    [
      "a folder of a backup",
      { read_paths: ["plugins"] },
      { rights: ["backups.download"], reads: ["plugins/x"] },
      true,
    ],
    [
      "all of a backup's files",
      { read_paths: ["plugins"] },
      { rights: ["backups.download"], reads: [""] },
      false,
    ],
    [
      "a restore of the world, with paths",
      { write_paths: ["plugins"] },
      { rights: ["backups.restore"] },
      false,
    ],
    ["the same with paths of reads", { read_paths: ["plugins"] }, { rights: ["backups.restore"] }, true],
    [
      "a restore of files within",
      { write_paths: ["plugins"] },
      { rights: ["backups.restore"], writes: ["plugins/x", "plugins"] },
      true,
    ],
    [
      "a restore of files of which one is outside",
      { write_paths: ["plugins"] },
      { rights: ["backups.restore"], writes: ["plugins/x", "ops.json"] },
      false,
    ],
    ["making a backup, with paths", { read_paths: ["plugins"] }, { rights: ["backups.make"] }, true],
    ["no path that is known", { read_paths: ["plugins"] }, { rights: ["files.read"] }, false],
    ["no path that is read", { read_paths: ["plugins"] }, { rights: ["files.read"], reads: [] }, true],
    ["the paths of the other right", { read_paths: [] }, { rights: ["files.write"], writes: ["x"] }, true],
    [
      "paths in the wrong list",
      { read_paths: ["plugins"] },
      { rights: ["files.read"], writes: ["plugins"] },
      false,
    ],
    ...(
      [
        ["secret.yml", "plugins/x", false],
        ["secret.yml", "plugins", false],
        ["secret", "config/worldguard", false],
        ["secret", "config", false],
        ["a.zip", "", false],
        ["plugins/../secret.yml", "plugins/x", false],
        ["secret.yml", "plugins2", true],
        ["plugins/x", "mods/x", true],
        ["plugins/x", "config/worldguard/x", true],
      ] as const
    ).map(
      ([from, to, isAllowed]): Case => [
        `a move of ${from} to ${to}`,
        { read_paths: ["plugins", "config/worldguard"] },
        { rights: ["files.write"], writes: [from, to], moves: { from, to } },
        isAllowed,
      ],
    ),
    [
      "a move with paths of changes alone",
      { write_paths: ["plugins"] },
      {
        rights: ["files.write"],
        writes: ["plugins/a", "plugins/b"],
        moves: { from: "plugins/a", to: "plugins/b" },
      },
      true,
    ],
    [
      "a command that is allowed",
      { allow_commands: ["list"] },
      { rights: ["command"], command: "list" },
      true,
    ],
    ["a command that is not", { allow_commands: ["list"] }, { rights: ["command"], command: "stop" }, false],
    [
      "a command that is denied",
      { deny_commands: ["stop"] },
      { rights: ["command"], command: "stop" },
      false,
    ],
    ["a command that is not known", { deny_commands: ["stop"] }, { rights: ["command"] }, false],
    ["no command", { allow_commands: [] }, { rights: ["command"], command: null }, true],
    ["an empty list of denials", { deny_commands: [] }, { rights: ["command"] }, true],
    ["commands where none is asked for", { allow_commands: [] }, { rights: ["power"] }, true],
  ];
  for (const [fact, limits, asked, isAllowed] of cases) {
    test(`of a member: ${fact}`, () => assert.equal(may(as, limited(limits), asked), isAllowed));
    test(`are none of the owner's: ${fact}`, () =>
      assert.ok(may(account("usr-owner"), limited(limits), asked)));
  }
});
