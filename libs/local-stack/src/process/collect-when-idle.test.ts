import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { nodeFlags } from "../program/programs.ts";
import { until } from "../testing/until.ts";

const script = `
  let garbage = Array.from({ length: 300_000 }, (_, number) => ({ number }));
  console.log(process.getBuiltinModule("node:v8").getHeapStatistics().total_heap_size);
  garbage = undefined;
  setInterval(() => console.log(process.getBuiltinModule("node:v8").getHeapStatistics().total_heap_size), 200);
`;

test("an idle process gives back what its start left behind", async () => {
  const child = spawn(process.execPath, [...nodeFlags, "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const sizes: number[] = [];
    child.stdout.on("data", (text: Buffer) => {
      for (const line of text.toString().trim().split("\n")) sizes.push(Number(line));
    });
    await until(() => (sizes.at(-1) ?? Number.POSITIVE_INFINITY) < 12_000_000, 40_000, "the collection");
    assert.ok((sizes[0] ?? 0) > 15_000_000, `the start took ${sizes[0]} bytes`);
  } finally {
    child.kill("SIGKILL");
  }
});
