import assert from "node:assert/strict";
import { test } from "node:test";
import type { Job } from "../jobs/job.ts";
import { decideWorldWork } from "./world-work.ts";

const at = "2026-01-01T00:00:00.000Z";
const job = (kind: Job["kind"], state: Job["state"]): Job => ({ name: kind, kind, state, started_at: at });
const op = (state: "running" | "succeeded") => ({ op: "unzip" as const, state, started_at: at });

const cases: Readonly<Record<string, [Parameters<typeof decideWorldWork>, string | undefined]>> = {
  "nothing works on a world": [[[], []], undefined],
  "a backup is made": [[[job("backup", "running")], []], "backup on backups"],
  "a backup was made": [[[job("backup", "succeeded")], []], undefined],
  "a download of a backup leaves the world alone": [[[job("export_backup", "running")], []], undefined],
  "a download of the world": [[[job("export_world", "running")], []], "export_world on backups"],
  "an archive is extracted": [[[], [op("running")]], "unzip on files"],
  "one was extracted": [[[job("restore", "failed")], [op("succeeded")]], undefined],
  "a Job comes first": [[[job("restore", "running")], [op("running")]], "restore on backups"],
};
for (const [what, [given, expected]] of Object.entries(cases)) {
  test(what, () => {
    const work = decideWorldWork(...given);
    assert.equal(work && `${work.what} on ${work.page}`, expected);
  });
}

test("who began it and when are told", () => {
  const work = decideWorldWork([{ ...job("backup", "running"), by: "other" }], []);
  assert.deepEqual([work?.by, work?.since], ["other", at]);
});
