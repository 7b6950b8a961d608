import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Job } from "@svc/kube";
import { holderOf, lockValue, parseLock } from "./holder.ts";
import { maintenanceAnnotation, worldJobLabels } from "./names.ts";

const now = Date.parse("2026-01-01T12:00:00.000Z");
const before = (seconds: number) => new Date(now - seconds * 1_000).toISOString();

function aServer(lock?: string) {
  return {
    metadata: { name: "survival", ...(lock && { annotations: { [maintenanceAnnotation]: lock } }) },
  };
}

type JobAbout = { manager: string; mode?: string; thenRestore?: string; ended?: string; server?: string };

function aJob({ manager, mode, thenRestore, ended, server = "survival" }: JobAbout): Job {
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name: `${manager}-job`,
      labels: {
        [worldJobLabels.server]: server,
        [worldJobLabels.managedBy]: manager,
        ...(mode && { [worldJobLabels.filesMode]: mode }),
        ...(thenRestore && { [worldJobLabels.thenRestore]: thenRestore }),
      },
    },
    status: { conditions: ended ? [{ type: ended, status: "True" }] : [] },
  };
}

type Row = { fact: string; lock?: string; jobs?: Job[]; kind: string | undefined };

const rows: Row[] = [
  { fact: "a world without lock and Job is free", kind: undefined },
  { fact: "a lock of a minute ago holds", lock: `backup@${before(60)}`, kind: "backup" },
  { fact: "a lock of 119 s ago holds", lock: `reap@${before(119)}`, kind: "reap" },
  { fact: "a lock of two minutes ago has expired", lock: `reap@${before(120)}`, kind: undefined },
  { fact: "a lock from a clock one minute ahead holds", lock: `restore@${before(-60)}`, kind: "restore" },
  { fact: "a lock from two minutes ahead does not hold", lock: `restore@${before(-120)}`, kind: undefined },
  { fact: "the lock of a move never expires", lock: `migration@${before(864_000)}`, kind: "migration" },
  { fact: "a lock of an unknown kind holds", lock: `repair@${before(1)}`, kind: "repair" },
  { fact: "a lock without a time does not hold", lock: "backup@", kind: undefined },
  { fact: "a lock with a malformed time does not hold", lock: "backup@soon", kind: undefined },
  { fact: "a lock with a bare year does not hold", lock: "backup@2026", kind: undefined },
  { fact: "a lock without a kind does not hold", lock: `@${before(1)}`, kind: undefined },
  { fact: "a running restore holds", jobs: [aJob({ manager: "svc-restore" })], kind: "restore" },
  { fact: "a running backup holds", jobs: [aJob({ manager: "svc-backup" })], kind: "backup" },
  { fact: "a running export holds", jobs: [aJob({ manager: "svc-export" })], kind: "export" },
  { fact: "an upload holds", jobs: [aJob({ manager: "svc-files", mode: "upload" })], kind: "file-write" },
  {
    fact: "a files Job of an unknown mode holds",
    jobs: [aJob({ manager: "svc-files", mode: "x" })],
    kind: "file-write",
  },
  { fact: "a files Job without a mode holds", jobs: [aJob({ manager: "svc-files" })], kind: "file-write" },
  {
    fact: "reading a file does not hold",
    jobs: [aJob({ manager: "svc-files", mode: "read" })],
    kind: undefined,
  },
  ...["list", "search", "changed", "plugins"].map((mode) => ({
    fact: `a files Job that reads, as ${mode} does, does not hold`,
    jobs: [aJob({ manager: "svc-files", mode })],
    kind: undefined,
  })),
  {
    fact: "setting files aside holds",
    jobs: [aJob({ manager: "svc-files", mode: "set-aside" })],
    kind: "file-write",
  },
  { fact: "a Job of another program does not hold", jobs: [aJob({ manager: "helm" })], kind: undefined },
  {
    fact: "a Job of another server does not hold",
    jobs: [aJob({ manager: "svc-backup", server: "other" })],
    kind: undefined,
  },
  ...["Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"].map((ended) => ({
    fact: `a Job that is ${ended} does not hold`,
    jobs: [aJob({ manager: "svc-restore", ended })],
    kind: undefined,
  })),
  {
    fact: "a Job whose condition is not true still holds",
    jobs: [
      { ...aJob({ manager: "svc-backup" }), status: { conditions: [{ type: "Complete", status: "False" }] } },
    ],
    kind: "backup",
  },
  {
    fact: "a safety snapshot holds until its restore has begun, finished or not",
    jobs: [aJob({ manager: "svc-backup", thenRestore: "pending", ended: "Complete" })],
    kind: "backup",
  },
  {
    fact: "a safety snapshot whose restore has begun is a Job as any other",
    jobs: [aJob({ manager: "svc-backup", thenRestore: "started", ended: "Complete" })],
    kind: undefined,
  },
  {
    fact: "the Job comes before the lock",
    lock: `reap@${before(1)}`,
    jobs: [aJob({ manager: "svc-files", mode: "read" }), aJob({ manager: "svc-backup" })],
    kind: "backup",
  },
];

describe("the holder of a world", () => {
  for (const { fact, lock, jobs = [], kind } of rows) {
    test(fact, () => assert.equal(holderOf(aServer(lock), jobs, { now })?.kind, kind));
  }
});

test("what is written is read back, to the millisecond", () => {
  assert.deepEqual(parseLock(lockValue("file-write", now)), { kind: "file-write", at: now });
});

test("nothing that a person may write into the annotation throws", () => {
  for (const value of ["", "@", "@@", "a@b@c", "backup@9999-99-99T99:99:99Z", "x".repeat(10_000)]) {
    assert.equal(parseLock(value), undefined);
  }
});
