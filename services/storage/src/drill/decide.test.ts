import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { PersistentVolumeClaim, StatefulSet } from "@svc/kube";
import type { drills } from "@svc/proto";
import type { BackupRow } from "../database/tables.ts";
import type { JobState } from "../job/outcome.ts";
import { decideDrill, type Observed, type ObservedPod, type Plan } from "./decide.ts";

const limits = { drillMs: 600_000, bootMs: 120_000 };
const worldVolume = { kind: "PersistentVolumeClaim" } as PersistentVolumeClaim;
const set = { kind: "StatefulSet" } as StatefulSet;
const backup = { id: "bk-1" } as BackupRow;
const done: JobState = { kind: "done", done: { mode: "restore" } as never };
const fails = (code: drills.DrillCode, message: string): Plan => ({ action: "fail", code, message });

const restoring = (about: Partial<Extract<Observed, { step: "restoring" }>>): Observed => ({
  step: "restoring",
  ...{ ageMs: 1_000, job: "none", worldVolume, backup },
  ...about,
});
const booting = (pod: Partial<ObservedPod> | undefined, ageMs = 90_000): Observed => ({
  step: "booting",
  ...{ ageMs, set: undefined },
  pod: pod && { ageMs: 30_400, hasExited: false, version: undefined, ...pod },
});

const table: readonly (readonly [sentence: string, observed: Observed, plan: Plan])[] = [
  ["the backup is restored", restoring({}), { action: "start-restore", worldVolume, backup }],
  ["a running restore is waited for", restoring({ job: "running" }), { action: "wait" }],
  ["a restored volume is booted", restoring({ job: done, backup: undefined }), { action: "boot" }],
  [
    "a failed restore fails the drill with its reason",
    restoring({ job: { kind: "broken", message: "out of memory" } }),
    fails("job_failed", "out of memory"),
  ],
  [
    "a rejected restore fails the drill with the code of the rejection",
    restoring({ job: { kind: "refused", fault: { code: "volume_full", message: "no room" } } }),
    fails("volume_full", "no room"),
  ],
  [
    "a drill whose server or world is gone fails",
    restoring({ worldVolume: undefined }),
    fails("world_gone", "the server or its world is gone"),
  ],
  [
    "a drill whose backup is gone fails",
    restoring({ backup: undefined }),
    fails("backup_gone", "the backup is gone"),
  ],
  [
    "a drill that exceeds its time limit fails at any step",
    restoring({ job: done, ageMs: limits.drillMs + 1 }),
    fails("drill_late", "the drill exceeded its time limit"),
  ],
  [
    "a drill that exceeds its time limit fails although its server answers",
    booting({ version: "1.21.4" }, limits.drillMs + 1),
    fails("drill_late", "the drill exceeded its time limit"),
  ],
  [
    "the server is started as its StatefulSet says",
    { step: "booting", ageMs: 1_000, pod: undefined, set },
    { action: "start-server", set },
  ],
  [
    "a server that was never started cannot be booted",
    booting(undefined),
    fails("never_started", "the server was never started, so it has no pod template"),
  ],
  [
    "a server that exits fails the drill",
    booting({ hasExited: true }),
    fails("server_exited", "the server exited during startup"),
  ],
  [
    "a server that answers passes, with the seconds of its pod",
    booting({ version: "1.21.4" }),
    { action: "pass", result: { version: "1.21.4", boot_seconds: 30 } },
  ],
  [
    "with clock skew a boot is never recorded as longer than the drill",
    booting({ version: "1.21.4" }, 20_000),
    { action: "pass", result: { version: "1.21.4", boot_seconds: 20 } },
  ],
  ["a starting server is waited for", booting({ ageMs: limits.bootMs }), { action: "wait" }],
  [
    "a server that is not ready in time fails the drill",
    booting({ ageMs: limits.bootMs + 1 }),
    fails("server_not_ready", "the server did not become ready in time"),
  ],
];

describe("the next step of a drill", () => {
  for (const [sentence, observed, plan] of table) {
    test(sentence, () => assert.deepEqual(decideDrill(observed, limits), plan));
  }
});
