import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { createProgram } from "../main.ts";
import { nodesOf, scriptOf, shells } from "./script.ts";

/** What bash offers behind these words. */
function offered(words: readonly string[]): string[] {
  const line = ["svc", ...words].map((word) => `'${word}'`).join(" ");
  const asked = `${scriptOf(createProgram(), "bash")}
COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["-c", asked], { encoding: "utf8" });
  assert.equal(stderr, "");
  return stdout.split("\n").filter((word) => word !== "");
}

test("bash completes commands, the commands of a group and the options of a command", () => {
  assert.deepEqual(offered(["sche"]), ["schedule"]);
  assert.deepEqual(offered(["server", "wa"]), ["wake"]);
  assert.deepEqual(offered(["server", "wake", "survival", "--w"]), ["--wait"]);
  assert.deepEqual(offered(["server", "--json", "wake", "survival", "--js"]), ["--json"]);
  assert.deepEqual(offered(["backup", "restore-files", "bk-1", "--no"]), ["--no-snapshot"]);
});

test("every shell is told of every command", () => {
  for (const shell of shells) {
    const script = scriptOf(createProgram(), shell);
    for (const { path } of nodesOf(createProgram())) assert.ok(script.includes(path), `${shell}: ${path}`);
  }
});
