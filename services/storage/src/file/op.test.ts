import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { files } from "@svc/proto";
import type { JobState, Outcome } from "../job/outcome.ts";
import { decideOp, type Plan } from "./op.ts";

const now = 1_000_000;
const patienceMs = 60_000;
const running = { state: "running", preparing_at: 0 } as files.StoredFileOp;
const preparing = (agoMs: number) => ({ ...running, preparing_at: now - agoMs });
const done: Outcome = { kind: "done", done: { mode: "unzip" } as never };
const refused: Outcome = { kind: "refused", fault: { message: "the disk is full" } as never };
const broken = (message: string): Plan => ({ action: "end", outcome: { kind: "broken", message } });

const table: readonly (readonly [string, files.StoredFileOp, JobState, Plan])[] = [
  ["an operation whose Job runs is waited for", running, "running", { action: "wait" }],
  ["one that is still being prepared is waited for", preparing(patienceMs - 1), "none", { action: "wait" }],
  [
    "one that was never begun is ended, so that it can be tried again",
    preparing(patienceMs),
    "none",
    broken("the service was interrupted before the job started; try again"),
  ],
  ["one whose Job is gone is ended", running, "none", broken("the job no longer exists")],
  ["one whose Job is done ends with it", running, done, { action: "end", outcome: done }],
  ["one whose Job refused ends with it", running, refused, { action: "end", outcome: refused }],
  [
    "an upload that is in the world needs its staged bytes no longer",
    { ...running, upload: "up-1" },
    done,
    { action: "end", outcome: done, releaseUpload: "up-1" },
  ],
  [
    "an upload that was refused keeps its staged bytes",
    { ...running, upload: "up-1" },
    refused,
    { action: "end", outcome: refused },
  ],
  ["one that has ended stays as it is", { ...running, state: "failed" }, done, { action: "wait" }],
];

describe("the next step of a file operation", () => {
  for (const [sentence, op, job, plan] of table) {
    test(sentence, () => assert.deepEqual(decideOp({ op, job }, now, patienceMs), plan));
  }
});
