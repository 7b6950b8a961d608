import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { hostProgramFlags, hostProgramMemory, runHostProgram } from "./host-program.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-host-program-"));
after(() => rmSync(folder, { recursive: true }));

function programOf(source: string): string {
  const file = join(folder, "program.mjs");
  writeFileSync(file, source);
  return file;
}

const echo = `
  import { json } from "node:stream/consumers";
  const { execArgv, env } = process;
  console.log(JSON.stringify({ command: await json(process.stdin), execArgv, env }));`;

describe("a program of the host", () => {
  test("gets its command, its variables alone, and what keeps its memory small", async () => {
    const answer = await runHostProgram(programOf(echo), { do: "list" }, { env: { SVC_SET: "a=1" } });
    assert.deepEqual(answer, {
      command: { do: "list" },
      execArgv: [...hostProgramFlags],
      env: { ...hostProgramMemory, SVC_SET: "a=1" },
    });
  });

  test("is believed rather than the defaults where its variables say something of memory", async () => {
    const env = { MALLOC_ARENA_MAX: "1" };
    const answer = (await runHostProgram(programOf(echo), {}, { env })) as { env: object };
    assert.deepEqual(answer.env, { ...hostProgramMemory, ...env });
  });

  const failures: [fact: string, source: string, message: string][] = [
    ["says why in its last line", `console.error("one\\ntwo"); process.exitCode = 1;`, "two"],
    ["ends before it has read its command", `process.exit(3);`, "program.mjs ended with 3"],
    ["is killed", `process.kill(process.pid, "SIGKILL");`, "program.mjs ended with a signal"],
  ];
  for (const [fact, source, message] of failures)
    test(`that ${fact} is an error that says so`, async () => {
      const command = { bytes: "x".repeat(1 << 20) };
      await assert.rejects(runHostProgram(programOf(source), command, { env: {} }), { message });
    });

  test("is heard while it works, and killed by the signal", async () => {
    const source = `console.error("begun"); setInterval(() => undefined, 60_000);`;
    const stop = new AbortController();
    const lines: string[] = [];
    const onLine = (line: string) => {
      lines.push(line);
      stop.abort();
    };
    const about = { env: {}, signal: stop.signal, onLine };
    await assert.rejects(runHostProgram(programOf(source), {}, about), { name: "AbortError" });
    assert.deepEqual(lines, ["begun"]);
  });
});
