import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Server } from "../cluster/resource.ts";
import type { ServerRow } from "../database/server-row.ts";
import { describeExceeded, type Limits } from "../server/quota.ts";
import { noLimits } from "../testing/fake-services.ts";
import { aServer, emptyRunning, failedSince } from "../testing/observed.ts";
import { refusalOfClaim } from "./claim-policy.ts";
import { type MenuFacts, verdictOf } from "./menu-policy.ts";
import { refusalOfCancelling, refusalOfRetiring, retireStateOf } from "./retire-policy.ts";

const free: ServerRow = { ownerId: undefined, retiring: undefined, offered: true };
const pending = (isDeletion: boolean) => ({ requested_at: "2026-01-01T00:00:00.000Z", delete: isDeletion });

describe("a quota", () => {
  const used = { servers: 2, cpuMilli: 1_000, memoryMb: 4_096, storageMb: 8_192 };
  const more = { servers: 1, cpuMilli: 500, memoryMb: 2_048, storageMb: 8_192 };
  const rows: [fact: string, limits: Partial<Limits>, isOver: boolean][] = [
    ["without limits holds everything", {}, false],
    ["of three servers holds the third", { max_servers: 3 }, false],
    ["of two servers refuses the third", { max_servers: 2 }, true],
    ["of zero servers holds none", { max_servers: 0 }, true],
    ["of CPU holds up to the last milli", { max_cpu_milli: 1_500 }, false],
    ["of CPU is exceeded by one milli", { max_cpu_milli: 1_499 }, true],
    ["of memory holds up to the last MB", { max_memory_mb: 6_144 }, false],
    ["of memory is exceeded by one MB", { max_memory_mb: 6_143 }, true],
    ["of storage is counted in GB", { max_storage_gb: 16 }, false],
    ["of storage is exceeded by a GB", { max_storage_gb: 15 }, true],
  ];
  for (const [fact, limits, isOver] of rows) {
    test(fact, () =>
      assert.equal(describeExceeded({ ...noLimits, ...limits }, used, more) !== undefined, isOver),
    );
  }
  test("that is exceeded already refuses nothing that does not use it", () => {
    const nothing = { ...more, cpuMilli: 0 };
    assert.equal(describeExceeded({ ...noLimits, max_cpu_milli: 100 }, used, nothing), undefined);
  });
  test("names the exceeded one of the four, and the numbers", () => {
    const words = describeExceeded({ ...noLimits, max_memory_mb: 5_000 }, used, more);
    assert.equal(words, "The quota of memory is 5000 MB: 4096 MB are used and 2048 MB are requested.");
  });
});

describe("a claim", () => {
  const fine: Parameters<typeof refusalOfClaim>[0] = {
    row: free,
    isStaff: false,
    holder: undefined,
    isActive: true,
    limits: noLimits,
    used: { servers: 0, cpuMilli: 0, memoryMb: 0, storageMb: 0 },
    costs: { cpuMilli: 500, memoryMb: 1_024, storageMb: 8_192 },
  };
  const full = { ...noLimits, max_servers: 0 };
  const rows: [fact: string, about: Partial<typeof fine>, fault: string | undefined][] = [
    ["of a free server is granted", {}, undefined],
    [
      "of an owned one is refused for that first",
      { row: { ...free, ownerId: "usr-2" }, limits: full },
      "already_claimed",
    ],
    ["of one that is given up is refused", { row: { ...free, retiring: pending(false) } }, "server_retiring"],
    ["of one that is deleted is refused", { row: { ...free, retiring: pending(true) } }, "server_retiring"],
    ["of one that is not offered is refused to players", { row: { ...free, offered: false } }, "forbidden"],
    [
      "of one that is not offered is an operator's",
      { row: { ...free, offered: false }, isStaff: true },
      undefined,
    ],
    ["waits for the reaper", { holder: "reap" }, "world_reclaiming"],
    ["does not wait for a backup", { holder: "backup" }, undefined],
    ["by a disabled account is forbidden", { isActive: false, limits: full }, "forbidden"],
    ["over the quota is refused", { limits: full }, "quota_exceeded"],
  ];
  for (const [fact, about, fault] of rows) {
    test(fact, () => assert.equal(refusalOfClaim({ ...fine, ...about })?.fault, fault));
  }
});

describe("a retirement", () => {
  const owned: ServerRow = { ...free, ownerId: "usr-1" };
  const owner = { accountId: "usr-1", isStaff: false };
  const stranger = { accountId: "usr-2", isStaff: false };
  const staff = { accountId: "usr-9", isStaff: true };
  const asking = (change: Partial<Parameters<typeof refusalOfRetiring>[2]> = {}) => ({
    name: "survival",
    confirm: "survival",
    isDeletion: false,
    ...change,
  });
  const rows: [
    fact: string,
    caller: typeof owner,
    asked: ReturnType<typeof asking>,
    fault: string | undefined,
  ][] = [
    ["is allowed for the owner", owner, asking(), undefined],
    ["is allowed for staff", staff, asking(), undefined],
    ["is refused to others", stranger, asking(), "forbidden"],
    ["needs the name as confirmation", owner, asking({ confirm: "Survival" }), "confirm_mismatch"],
    ["with deletion is refused to the owner", owner, asking({ isDeletion: true }), "forbidden"],
    ["with deletion is allowed for staff", staff, asking({ isDeletion: true }), undefined],
    ["tells others nothing about the confirmation", stranger, asking({ confirm: "" }), "forbidden"],
  ];
  for (const [fact, caller, asked, fault] of rows) {
    test(fact, () => assert.equal(refusalOfRetiring(owned, caller, asked)?.fault, fault));
  }
  test("of an unowned server is refused to a caller without an account", () => {
    const nobody = { accountId: undefined, isStaff: false };
    assert.equal(refusalOfRetiring(free, nobody, asking())?.fault, "forbidden");
  });

  const now = new Date("2026-02-02T00:00:00.000Z");
  const states: [
    fact: string,
    before: ReturnType<typeof pending> | undefined,
    asked: boolean,
    after: unknown,
  ][] = [
    ["begins now", undefined, false, { requested_at: now.toISOString(), delete: false }],
    ["keeps its first time when it is repeated", pending(false), false, pending(false)],
    ["becomes a deletion and keeps its first time", pending(false), true, pending(true)],
    ["that is a deletion stays one", pending(true), false, pending(true)],
  ];
  for (const [fact, before, asked, after] of states) {
    test(fact, () => assert.deepEqual(retireStateOf(before, asked, now), after));
  }

  const cancels: [fact: string, isDeletion: boolean, caller: typeof owner, fault: string | undefined][] = [
    ["is cancelled by the owner", false, owner, undefined],
    ["is not cancelled by others", false, stranger, "forbidden"],
    ["of staff is not cancelled by the owner", true, owner, "forbidden"],
    ["of staff is cancelled by staff", true, staff, undefined],
  ];
  for (const [fact, isDeletion, caller, fault] of cancels) {
    test(fact, () => {
      const row = { ...owned, retiring: pending(isDeletion) };
      assert.equal(refusalOfCancelling(row, caller)?.fault, fault);
    });
  }
});

describe("a verdict of the menu", () => {
  const none: MenuFacts = { isRetiring: false, isOwned: false, hasPower: false, isListed: false };
  const of = (
    autostartPolicy: "public" | "allowlist" | "ownerOnly" | undefined,
    status?: Server["status"],
  ) => ({
    ...aServer(autostartPolicy ? { autostartPolicy } : {}),
    ...(status && { status }),
  });
  const gaveUp = failedSince(600, "StartupTimeout", 3);
  const all = { isRetiring: true, isOwned: true, hasPower: true, isListed: true };
  const rows: [fact: string, server: Server, facts: MenuFacts, isStaff: boolean, verdict: string][] = [
    ["is retiring before everything else", of("public", gaveUp), all, true, "retiring"],
    [
      "is start_failed before owner",
      of("public", gaveUp),
      { ...all, isRetiring: false },
      true,
      "start_failed",
    ],
    [
      "is not start_failed while a restart is to come",
      of("public", failedSince(60, "StartupTimeout", 1)),
      none,
      false,
      "wake",
    ],
    ["is owner before wake", of("public"), { ...none, isOwned: true }, false, "owner"],
    ["is owner whatever the policy", of("ownerOnly"), { ...none, isOwned: true }, false, "owner"],
    ["is wake for anybody where it is public", of("public"), none, false, "wake"],
    ["is wake for staff", of("ownerOnly"), none, true, "wake"],
    ["is wake for players on the list", of("allowlist"), { ...none, isListed: true }, false, "wake"],
    ["is allowlist for players who are not on it", of("allowlist"), none, false, "allowlist"],
    ["is owner_only for anybody else", of("ownerOnly"), { ...none, isListed: true }, false, "owner_only"],
    ["is owner_only where no policy is set", of(undefined), none, false, "owner_only"],
    ["does not depend on the phase", of("ownerOnly", emptyRunning), none, false, "owner_only"],
  ];
  for (const [fact, server, facts, isStaff, verdict] of rows) {
    test(fact, () => assert.equal(verdictOf(server, facts, { isStaff, autoRestarts: 3 }), verdict));
  }
});
