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
  { fact: "nobody holds a world without lock and Job", kind: undefined },
  { fact: "a lock taken a minute ago holds", lock: `backup@${before(60)}`, kind: "backup" },
  { fact: "a lock of 119 s ago holds", lock: `reap@${before(119)}`, kind: "reap" },
  { fact: "a lock of two minutes ago holds nothing", lock: `reap@${before(120)}`, kind: undefined },
  { fact: "a lock of a clock that is a minute ahead holds", lock: `restore@${before(-60)}`, kind: "restore" },
  { fact: "a lock from two minutes ahead holds nothing", lock: `restore@${before(-120)}`, kind: undefined },
  { fact: "a move holds for ever", lock: `migration@${before(864_000)}`, kind: "migration" },
  { fact: "a lock of a kind that is not known yet holds", lock: `repair@${before(1)}`, kind: "repair" },
  { fact: "a lock without a time holds nothing", lock: "backup@", kind: undefined },
  { fact: "a lock that is no time at all holds nothing", lock: "backup@soon", kind: undefined },
  { fact: "a lock with a bare year holds nothing", lock: "backup@2026", kind: undefined },
  { fact: "a lock without a kind holds nothing", lock: `@${before(1)}`, kind: undefined },
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
    fact: "reading a file holds nothing",
    jobs: [aJob({ manager: "svc-files", mode: "read" })],
    kind: undefined,
  },
  {
    fact: "listing files holds nothing",
    jobs: [aJob({ manager: "svc-files", mode: "list" })],
    kind: undefined,
  },
  { fact: "a Job of somebody else holds nothing", jobs: [aJob({ manager: "helm" })], kind: undefined },
  {
    fact: "a Job of another server holds nothing here",
    jobs: [aJob({ manager: "svc-backup", server: "other" })],
    kind: undefined,
  },
  ...["Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"].map((ended) => ({
    fact: `a Job that is ${ended} holds nothing`,
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

describe("who holds a world", () => {
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
