// The commands on a real mesh, with storage's side of the conversation in the test; one that is interrupted is a process of its
// own.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { testProgram } from "@svc/config/test-program";
import type { Mesh } from "@svc/mesh";
import { startTestNats, type TestNats, until } from "@svc/mesh/testing";
import { backupChanges, backupKeeping, backups, restorePlans } from "@svc/proto";
import { runCommand } from "../testing/run-command.ts";

const main = testProgram(fileURLToPath(new URL("../main.ts", import.meta.url)));

const at = "2026-11-20T12:00:00.000Z";

const backupOf = (id: string) => ({
  ...{
    id,
    server_name: "survival",
    size_bytes: 2_048,
    reason: "manual" as const,
    status: "present" as const,
  },
  ...{ created_at: at, expires_at: "2026-12-20T12:00:00.000Z", label: "", pinned: false },
});

describe("commands on backups", () => {
  let nats: TestNats;
  let storage: Mesh;
  let isStopped = false;
  let isBackedUp = false;
  let isRunning = false;
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
    storage.serve(backupKeeping.findBackups, (_context, { server, offset = 0 }) => {
      const kept = ["bk-1", "bk-2"].map(backupOf).filter((one) => one.server_name === (server ?? "survival"));
      // One to a page, so that the command has to turn it.
      return { backups: kept.slice(offset, offset + 1), total: kept.length };
    });
    storage.serve(backupKeeping.annotateBackup, (context, { id, pinned = false, label = "" }) => {
      if (id !== "bk-1") throw context.fault("no_backup");
      return { ...backupOf(id), pinned, label };
    });
    storage.serve(backupKeeping.browseBackup, (_context, { path }) => ({
      ...{ path, truncated: false },
      entries: [{ name: "level.dat", is_dir: false, size: 2_048, mod_time: at }],
    }));
    storage.serve(backupChanges.compareBackups, (_context, about) => ({
      ...about,
      ...{
        added: 1,
        changed: 0,
        removed: 1,
        same: 7,
        exact: about.path !== "",
        truncated: about.path === "",
      },
      files: [
        { path: "new.txt", change: "added" as const, size: 2_048 },
        { path: "old.txt", change: "removed" as const, size: 1 },
      ],
    }));
    storage.serve(restorePlans.planByOperator, (context, { id, only }) => {
      if (isRunning) throw context.fault("not_stopped");
      return {
        ...{ name: "survival", backup_id: id, backup_at: at, same: only ? 0 : 7, may_be_same: 0 },
        ...{ added: 0, changed: 1, removed: 0, added_bytes: 0, changed_bytes: 2_048, removed_bytes: 0 },
        files: [{ path: "level.dat", change: "changed" as const, size: 2_048, was: 1 }],
        truncated: false,
      };
    });
    storage.serve(backupKeeping.readBackupQueue, () => ({
      ...{ state: "store_full" as const, waiting: ["creative"], waiting_total: 2 },
      running: [
        { server: "survival", job: "b-1", kind: "backup" as const, started_at: at, holds_slot: false },
      ],
    }));
    storage.serve(backupKeeping.listJobsByOperator, (_context, { name }) => ({ server: name, jobs: [] }));
    await storage.announce();
  });
  after(async () => {
    await storage?.drain(500);
    await nats?.stop();
  });

  const operatorUrl = () => {
    const url = new URL(nats.url);
    url.username = "operator";
    url.password = nats.passwords["operator"] ?? "";
    return url.href;
  };
  const inProcess = async (words: string) => {
    process.env["SVC_OPERATOR_NATS_URL"] = operatorUrl();
    return runCommand(words.split(" ")).finally(() => delete process.env["SVC_OPERATOR_NATS_URL"]);
  };
  const run = () => {
    asked.length = 0;
    const child = spawn(process.execPath, [main, "backup-now", "--stop", "--yes"], {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, SVC_OPERATOR_NATS_URL: operatorUrl() },
    });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      said += text;
    });
    return { child, ended: once(child, "exit"), said: () => said };
  };

  test("backups of all pages are listed, as a table and as one JSON value", async () => {
    const { out, code } = await inProcess("backup list");
    assert.equal(code, 0);
    assert.match(
      out,
      /^ID +SERVER +MADE +SIZE +REASON +EXPIRES +LABEL\nbk-1 +survival .* 2\.0 KiB +manual[\s\S]*\nbk-2 /,
    );
    const rows = JSON.parse((await inProcess("backup list survival --json")).out) as { id: string }[];
    assert.deepEqual(
      rows.map(({ id }) => id),
      ["bk-1", "bk-2"],
    );
    assert.equal((await inProcess("backup list creative")).out, "There are no backups.\n");
    assert.equal((await inProcess("backup jobs survival")).out, "survival has no jobs.\n");
  });

  test("what differs between two backups is one line a file, and a sum", async () => {
    const { out } = await inProcess("backup diff bk-1 bk-2 world");
    assert.match(
      out,
      /^\+ +2\.0 KiB +new\.txt\n- +1 B +old\.txt\n1 added \(\+\), 0 changed \(~\), 1 removed \(-\), 7 the same\.\n$/,
    );
    const whole = await inProcess("backup diff bk-1 bk-2");
    assert.match(whole.out, /\nOnly the first are shown\.\nA backup has no digests/);
    const json = JSON.parse((await inProcess("backup diff bk-1 bk-2 --json")).out) as {
      since: string;
      id: string;
    };
    assert.deepEqual([json.since, json.id], ["bk-1", "bk-2"]);
  });

  test("the queue says why it stands still, and names no server twice", async () => {
    const { out } = await inProcess("backup queue");
    assert.match(out, /^Restore points are paused: the backup store is full\.\n/);
    assert.match(
      out,
      /\nsurvival +backup +2026-11-20T12:00:00 +released +b-1\nWaiting \(2\): creative, \.\.\.\n$/,
    );
  });

  test("a label and a pin are said back; a backup that does not exist is a failure in one sentence", async () => {
    assert.match(
      (await inProcess("backup label bk-1 golden")).out,
      /^bk-1 "golden" is kept until 2026-12-20/,
    );
    assert.equal(
      (await inProcess("backup pin bk-1")).out,
      "bk-1 is pinned: it stays until it is unpinned.\n",
    );
    const gone = await inProcess("backup unpin bk-9 --json");
    assert.deepEqual([gone.code, gone.out], [1, ""]);
    assert.match(gone.error, /^svc: [^\n]+ \(no_backup\)\n$/);
  });

  test("a plan is printed only for a backup and files that exist", async () => {
    const planned = await inProcess("backup restore-files bk-1 level.dat --json");
    const plan = { id: "bk-1", only: ["level.dat"], safety_snapshot: true };
    const { planned: shown, done } = JSON.parse(planned.out) as {
      planned: { changes: restorePlans.RestorePlan };
      done: boolean;
    };
    const { changes, ...input } = shown;
    assert.deepEqual([input, done], [plan, false]);
    assert.deepEqual([changes.backup_id, changes.changed, changes.same], ["bk-1", 1, 0]);
    const whole = await inProcess("backup restore bk-1 --no-snapshot");
    assert.match(
      whole.out,
      /^Plan: restore the whole world from bk-1\.\nIt removes 0 .* 7 stay the same\.\n~ {2}2\.0 KiB {2}level\.dat\nNothing was done; add --yes to do it\.\n$/,
    );
    const refusals: [words: string, says: RegExp][] = [
      ["backup restore bk-9", /backup bk-9 not found; list backups with npm run svc -- backup list/],
      ["backup restore-files bk-1 gone.dat", /bk-1 does not contain gone\.dat; list its files with/],
    ];
    for (const [words, says] of refusals) {
      const { code, out, error } = await inProcess(words);
      assert.deepEqual([code, out], [1, ""], words);
      assert.match(error, says);
    }
  });

  test("a plan says what it would change, or why nobody knows", async () => {
    isRunning = true;
    const { out, code } = await inProcess("backup restore bk-1");
    assert.equal(code, 0);
    assert.match(
      out,
      /\nWhat it would change is not known: The server must be fully stopped first\.\nNothing/,
    );
    const json = JSON.parse((await inProcess("backup restore bk-1 --json")).out) as {
      planned: { changes: null; why: string };
    };
    assert.deepEqual(json.planned.changes, null);
    assert.match(json.planned.why, /stopped/);
    isRunning = false;
  });

  test("backup-now that is interrupted while the server still stops starts it again at once, and takes no other", async () => {
    const { child, ended, said } = run();
    await until(() => asked.includes("back up first"));
    child.kill("SIGINT");
    assert.deepEqual(await ended, [1, null], said());
    assert.ok(asked.includes("resume first"));
    assert.ok(!asked.some((one) => one.endsWith("second")));
  });

  test("backup-now that is interrupted while the backup runs waits for it and starts the server; interrupted again it says what stays stopped", async () => {
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
