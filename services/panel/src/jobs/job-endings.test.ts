import assert from "node:assert/strict";
import { test } from "node:test";
import type { Job } from "./job.ts";
import { endingsOf } from "./job-endings.ts";

const job = (name: string, state: Job["state"]): Job => ({ name, kind: "backup", state });

const cases: Readonly<Record<string, [before: readonly string[] | undefined, jobs: Job[], news: string[]]>> =
  {
    "the first look tells of nothing": [undefined, [job("a", "succeeded"), job("b", "running")], []],
    "a Job has ended": [["a"], [job("b", "succeeded"), job("a", "succeeded")], ["b"]],
    "a Job has failed": [[], [job("b", "failed")], ["b"]],
    "a Job runs": [["a"], [job("b", "running"), job("a", "succeeded")], []],
    "one is listed no more": [["a", "b"], [job("b", "succeeded")], []],
  };
for (const [what, [before, jobs, news]] of Object.entries(cases)) {
  test(what, () => {
    const found = endingsOf(before && new Set(before), jobs);
    assert.deepEqual(
      found.news.map((one) => (one as Job).name),
      news,
    );
  });
}
