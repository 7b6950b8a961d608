// Tables: from facts to findings.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Found } from "../../bundle/folder.ts";
import type { Finding } from "../finding.ts";
import { judgeBundles } from "./bundles.ts";
import { judgeNode, judgeServer } from "./cluster.ts";
import { judgeDisk, judgeMemory } from "./machine.ts";
import { judgeCertificate } from "./network.ts";
import { judgeOffsite } from "./offsite.ts";
import { judgeBuilds, judgeIdentity, judgeStorage } from "./owners.ts";
import { judgeWebhooks } from "./webhooks.ts";

const now = Date.parse("2026-11-23T02:00:00Z");
const hour = 3_600_000;
const day = 24 * hour;
const ago = (ms: number) => new Date(now - ms).toISOString();

/** `key severity for-minutes`, with `event` for what happened once. */
const words = (findings: readonly Finding[]) =>
  findings.map(({ key, severity, forMs, event }) => `${key} ${severity} ${event ? "event" : forMs / 60_000}`);

const server = (name: string, phase?: string, annotations: Record<string, string> = {}) =>
  judgeServer({ metadata: { name, annotations }, status: { phase } } as never, now);
const node = (...conditions: [type: string, status: string][]) =>
  judgeNode({
    metadata: { name: "n1" },
    status: { conditions: conditions.map(([type, status]) => ({ type, status })) },
  } as never);
const bundle = (label: string, ageMs: number, problem?: string, servers_error?: string) =>
  ({
    name: `db-${label}`,
    label,
    takenAt: new Date(now - ageMs),
    problem,
    manifest: { servers_error },
  }) as unknown as Found;
const bundles = (...found: Found[]) => judgeBundles(found, { maxAgeMs: 26 * hour, now });
const health = { failed_jobs: [], stuck_jobs: [], reaper: {}, store_full: false };
const job = { job: "j1", server: "survival", kind: "restore" as const };
const offsite = { stale: false, last: null, max_age_seconds: 43_200, kinds: [] };
const copies = { objects: 1, bytes: 1, missing: [], missing_count: 0, not_whole: [], not_whole_count: 0 };
const lacking = { ...copies, missing: ["worlds/a.sealed"], missing_count: 1 };
const pass = { started_at: ago(hour), sent: 0, sent_bytes: 0, deleted: 0, failed: 0, failures: [] };

describe("conditions", () => {
  const table: [fact: string, findings: Finding[], expected: string[]][] = [
    ["a running and a stopped server are right", [...server("a", "Running"), ...server("b", "Stopped")], []],
    ["a failed server", server("a", "Failed"), ["server/a warning 5"]],
    ["the login gate that does not run", server("login", "Starting"), ["system-server/login critical 10"]],
    ["the lobby that does not run", server("lobby"), ["system-server/lobby warning 10"]],
    [
      "a move that has locked a world for a day",
      server("a", "Stopped", { "svc.internal/maintenance": `migration@${ago(25 * hour)}` }),
      ["world-lock/a warning 0"],
    ],
    [
      "a clone that has waited for its world for a day",
      server("a", "Stopped", {
        "svc.internal/maintenance": `migration@${ago(25 * hour)}`,
        "svc.internal/clone": JSON.stringify({ id: "1", lock: `migration@${ago(25 * hour)}` }),
      }),
      ["world-lock/a warning 0"],
    ],
    [
      "a lock that expires by itself is right",
      server("a", "Stopped", { "svc.internal/maintenance": `backup@${ago(25 * hour)}` }),
      [],
    ],
    ["a ready node is right", node(["Ready", "True"], ["DiskPressure", "False"]), []],
    ["a node that is not ready", node(["Ready", "Unknown"]), ["node/n1/ready critical 2"]],
    [
      "a node under pressure",
      node(["Ready", "True"], ["MemoryPressure", "True"]),
      ["node/n1/MemoryPressure warning 5"],
    ],
    ["a fresh daily bundle is right", bundles(bundle("daily", hour)), []],
    ["no bundle", bundles(), ["db-backup/stale critical 10"]],
    [
      "a daily bundle of yesterday",
      bundles(bundle("manual", hour), bundle("daily", 27 * hour)),
      ["db-backup/stale critical 10"],
    ],
    [
      "a damaged daily bundle does not count",
      bundles(bundle("daily", hour, "cut off")),
      ["db-backup/stale critical 10", "db-backup/damaged/db-daily warning 10"],
    ],
    [
      "a newest bundle without servers",
      bundles(bundle("daily", hour, undefined, "no answer")),
      ["db-backup/incomplete warning 0"],
    ],
    ["a disk with 16 % left is right", judgeDisk("/x", 0.16), []],
    ["a disk with 14 % left", judgeDisk("/x", 0.14), ["disk//x warning 15"]],
    ["a disk with 4 % left", judgeDisk("/x", 0.04), ["disk//x critical 5"]],
    ["memory", [...judgeMemory(0.11), ...judgeMemory(0.09)], ["memory warning 15"]],
    ["a certificate with a month is right", judgeCertificate("h:1", now + 31 * day, now), []],
    [
      "a certificate with a fortnight",
      judgeCertificate("h:1", now + 14 * day, now),
      ["certificate/h:1 warning 0"],
    ],
    [
      "a certificate with six days",
      judgeCertificate("h:1", now + 6 * day, now),
      ["certificate/h:1 critical 0"],
    ],
    ["an expired certificate", judgeCertificate("h:1", now - day, now), ["certificate/h:1 critical 0"]],
    ["webhooks that are on, or were switched off by hand, are right", judgeWebhooks([]), []],
    [
      "webhooks of the installation that svc switched off",
      judgeWebhooks(
        (["gone", "failing", "restored"] as const).map((off_reason) => ({
          ...{ id: `whk-${off_reason}`, label: "ops", host: "chat.example.net", off_reason },
        })),
      ),
      ["gone", "failing", "restored"].map((reason) => `webhook/off/whk-${reason} warning 0`),
    ],
    ["storage that works is right", judgeStorage(health, now), []],
    [
      "a failed restore, a stuck one and a full store",
      judgeStorage(
        {
          ...health,
          failed_jobs: [{ ...job, message: "no space", finished_at: ago(hour) }],
          stuck_jobs: [{ ...job, started_at: ago(7 * hour) }],
          store_full: true,
        },
        now,
      ),
      ["world-job/failed/j1 warning event", "world-job/stuck/j1 warning 0", "backup-store warning 10"],
    ],
    ["a reaper that never ran is right", judgeStorage({ ...health, reaper: {} }, now), []],
    [
      "a reaper that failed, and succeeded long ago",
      judgeStorage(
        {
          ...health,
          reaper: {
            first_run_at: ago(9 * day),
            last_success_at: ago(27 * hour),
            failed: { id: "r", message: "m" },
          },
        },
        now,
      ),
      ["reaper/failed/r warning event", "reaper/stale warning 0"],
    ],
    [
      "a reaper that never succeeded",
      judgeStorage({ ...health, reaper: { first_run_at: ago(27 * hour) } }, now),
      ["reaper/stale warning 0"],
    ],
    [
      "a failed build, and a scan with an old database",
      judgeBuilds({
        failed: 2,
        newest_failure: { id: "b", error: "e", finished_at: ago(hour) },
        newest_scan: { scanned_at: ago(day), database_at: ago(5 * day) },
      }),
      ["builds/failing warning 5", "builds/scan-database warning 0"],
    ],
    [
      "an image that today's policy blocks",
      judgeBuilds({ failed: 0, flagged: 1, first_flagged: { image_ref: "a:1", build_id: "b" } }),
      ["builds/flagged warning 0"],
    ],
    [
      "an old scan with a database that was fresh is right",
      judgeBuilds({ failed: 0, newest_scan: { scanned_at: ago(90 * day), database_at: ago(91 * day) } }),
      [],
    ],
    [
      "a mail budget that is used up",
      judgeIdentity({ mails_left: 0, mails_waiting: 1 }),
      ["mail-budget warning 10", "mail-queue warning 10"],
    ],
    ["an installation without mail is right", judgeIdentity({ mails_waiting: 0 }), []],
    ["a fresh off-site copy is right", judgeOffsite(offsite), []],
    [
      "a first off-site copy that takes its time",
      judgeOffsite({ ...offsite, stale: true }),
      ["offsite/stale critical 720"],
    ],
    [
      "an off-site copy of yesterday",
      judgeOffsite({ ...offsite, stale: true, last_completed_at: ago(13 * hour) }),
      ["offsite/stale critical 0"],
    ],
    ["a copy of the log of now is right", judgeOffsite({ ...offsite, wal: { stale: false } }), []],
    [
      "copies of the log that cover nothing yet",
      judgeOffsite({ ...offsite, wal: { stale: true } }),
      ["offsite/wal warning 120"],
    ],
    [
      "copies of the log that end before now",
      judgeOffsite({ ...offsite, wal: { stale: true, covered_until: ago(2 * hour) } }),
      ["offsite/wal warning 10"],
    ],
    [
      "a wrong off-site key",
      judgeOffsite({ ...offsite, last: { ...pass, state: "wrong_key" } }),
      ["offsite/wrong-key critical 0"],
    ],
    [
      "an off-site copy that is missing",
      judgeOffsite({ ...offsite, kinds: [{ kind: "worlds", ...lacking }] }),
      ["offsite/missing warning 180"],
    ],
    [
      "a copy of the log that is missing",
      judgeOffsite({ ...offsite, wal: { stale: false, copies: lacking } }),
      ["offsite/missing warning 180"],
    ],
    [
      "copies that are missing where another host writes are its matter",
      judgeOffsite({
        ...offsite,
        last: { ...pass, state: "standby" },
        kinds: [{ kind: "worlds", ...lacking }],
      }),
      ["offsite/displaced critical 0"],
    ],
    [
      "a damaged off-site copy",
      judgeOffsite({ ...offsite, damaged: ["worlds/a.sealed"] }),
      ["offsite/damaged critical 0"],
    ],
    [
      "another off-site writer",
      judgeOffsite({ ...offsite, last: { ...pass, state: "standby" } }),
      ["offsite/displaced critical 0"],
    ],
  ];
  for (const [fact, findings, expected] of table)
    test(fact, () => assert.deepEqual(words(findings), expected));

  test("say what is wrong and what to do in both languages", () => {
    for (const { key, summary, hint } of table.flatMap(([, findings]) => findings))
      for (const text of [summary, hint]) {
        assert.doesNotMatch(`${text.en}${text.zh}`, /[{}]|undefined|NaN/, key);
        assert.match(text.zh, /\p{Script=Han}/u, key);
        assert.doesNotMatch(text.en, /\p{Script=Han}/u, key);
      }
  });
});
