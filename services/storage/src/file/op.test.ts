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
  ["an operation whose Job runs is unchanged", running, "running", { action: "wait" }],
  ["an operation in preparation is unchanged", preparing(patienceMs - 1), "none", { action: "wait" }],
  [
    "an operation that never started fails, so that it can be retried",
    preparing(patienceMs),
    "none",
    broken("the service was interrupted before the job started; try again"),
  ],
  ["an operation whose Job is gone fails", running, "none", broken("the job no longer exists")],
  ["an operation whose Job succeeded ends with its result", running, done, { action: "end", outcome: done }],
  [
    "an operation whose Job failed ends with its error",
    running,
    refused,
    { action: "end", outcome: refused },
  ],
  [
    "the staged bytes of a committed upload are removed",
    { ...running, upload: "up-1" },
    done,
    { action: "end", outcome: done, releaseUpload: "up-1" },
  ],
  [
    "the staged bytes of a rejected upload are kept",
    { ...running, op: "upload", upload: "up-1" },
    refused,
    { action: "end", outcome: refused },
  ],
  [
    "the staged bytes of a rejected fetch are removed",
    { ...running, op: "upload", from: "https://a.example/b.jar", upload: "up-1" },
    refused,
    { action: "end", outcome: refused, releaseUpload: "up-1" },
  ],
  ["an operation that has ended is unchanged", { ...running, state: "failed" }, done, { action: "wait" }],
];

describe("the next step of a file operation", () => {
  for (const [sentence, op, job, plan] of table) {
    test(sentence, () => assert.deepEqual(decideOp({ op, job }, now, patienceMs), plan));
  }
});
