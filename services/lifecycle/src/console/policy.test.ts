import assert from "node:assert/strict";
import { test } from "node:test";
import type { Server } from "../cluster/resource.ts";
import { hasLog, takesCommands } from "./policy.ts";

const cases = {
  Unknown: { log: false, commands: false },
  Stopped: { log: false, commands: false },
  Starting: { log: true, commands: false },
  Running: { log: true, commands: true },
  Stopping: { log: true, commands: false },
  Failed: { log: true, commands: false },
} as const;
for (const [phase, { log, commands }] of Object.entries(cases)) {
  test(`${phase}: ${log ? "a" : "no"} log, ${commands ? "" : "no "}commands`, () => {
    const server = { status: { phase } } as Server;
    assert.deepEqual([hasLog(server), takesCommands(server)], [log, commands]);
  });
}

test("a server that is not there has no log", () => assert.equal(hasLog(undefined), false));
