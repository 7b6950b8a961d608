// The command as a process of its own on a real mesh, with storage's side of the conversation in the test.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { testProgram } from "@svc/config/test-program";
import type { Mesh } from "@svc/mesh";
import { startTestNats, type TestNats, until } from "@svc/mesh/testing";
import { backupKeeping, backups } from "@svc/proto";

const main = testProgram(fileURLToPath(new URL("../main.ts", import.meta.url)));

describe("svc backup-now --stop that is interrupted", () => {
  let nats: TestNats;
  let storage: Mesh;
  let isStopped = false;
  let isBackedUp = false;
  const asked: string[] = [];
  before(async () => {
    nats = await startTestNats();
    storage = await nats.connect("storage");
    storage.serve(backupKeeping.planBackups, () => ({
      servers: ["first", "second"].map((name) => ({ name, action: "stop_then_back_up" as const })),
    }));
    storage.serve(backupKeeping.backUpNow, (_context, { name }) => {
      asked.push(`back up ${name}`);
      return isStopped
        ? { state: "started" as const, job: `backup-${name}` }
        : { state: "stopping" as const };
    });
    storage.serve(backups.readBackupRun, (_context, { job }) => {
      asked.push(`read ${job}`);
      return { state: isBackedUp ? ("succeeded" as const) : ("running" as const) };
    });
    storage.serve(backupKeeping.resumeAfterBackup, (_context, { name }) => {
      asked.push(`resume ${name}`);
      return null;
    });
    await storage.announce();
  });
  after(async () => {
    await storage?.drain(500);
    await nats?.stop();
  });

  const run = () => {
    asked.length = 0;
    const url = new URL(nats.url);
    url.username = "operator";
    url.password = nats.passwords["operator"] ?? "";
    const child = spawn(process.execPath, [main, "backup-now", "--stop", "--yes"], {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, SVC_OPERATOR_NATS_URL: url.href },
    });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      said += text;
    });
    return { child, ended: once(child, "exit"), said: () => said };
  };

  test("while the server still stops starts it again at once, and takes no other", async () => {
    const { child, ended, said } = run();
    await until(() => asked.includes("back up first"));
    child.kill("SIGINT");
    assert.deepEqual(await ended, [1, null], said());
    assert.ok(asked.includes("resume first"));
    assert.ok(!asked.some((one) => one.endsWith("second")));
  });

  test("while the backup runs waits for it and starts the server; interrupted again it says what stays stopped", async () => {
    isStopped = true;
    const first = run();
    await until(() => asked.includes("read backup-first"));
    first.child.kill("SIGINT");
    await until(() => first.said().includes("first is started again first"));
    assert.ok(!asked.includes("resume first"));
    isBackedUp = true;
    assert.deepEqual(await first.ended, [1, null]);
    assert.ok(asked.includes("resume first"));
    isBackedUp = false;
    const second = run();
    await until(() => asked.includes("read backup-first"));
    second.child.kill("SIGINT");
    await until(() => second.said().includes("Interrupted"));
    second.child.kill("SIGINT");
    assert.deepEqual(await second.ended, [130, null]);
    assert.match(second.said(), /first stays stopped: npm run svc -- server wake first/);
  });
});
