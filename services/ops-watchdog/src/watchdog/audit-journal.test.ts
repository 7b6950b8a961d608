import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type AuditEntry, Fault } from "@svc/proto";
import { createAuditJournal } from "./audit-journal.ts";
import { openStateFile } from "./state-file.ts";

const program = fileURLToPath(new URL("../testing/silencing.ts", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "svc-journal-"));
after(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;

function openJournal(dir = mkdtempSync(join(root, `${folders++}-`))) {
  const published: AuditEntry[] = [];
  const about = { isAway: false };
  const options = { dir: join(dir, "state"), copyDir: join(dir, "copy") };
  const journal = createAuditJournal({
    ...options,
    publish: async (entry) => {
      if (about.isAway) throw new Error("the database is away");
      published.push(entry);
    },
  });
  const waiting = () => (existsSync(join(dir, "state/audits")) ? readdirSync(join(dir, "state/audits")) : []);
  return { ...options, dir, journal, published, about, waiting };
}

const entryOf = (id: string): AuditEntry => ({
  ...{ id, at: "2026-01-01T00:00:00.000Z", actor: "amelia", source: "external" },
  ...{ action: "alert.silence", payload: { key: "*" } },
});

describe("a process killed at any step", () => {
  const steps: [step: string, isChanged: boolean, outcome: string][] = [
    ["asked", false, "nothing"],
    ["admitted", false, "unknown"],
    ["changed", true, "unknown"],
    ["publishing", true, "unknown"],
    ["published", true, "unknown"],
    ["never", true, "nothing"],
  ];
  for (const [step, isChanged, outcome] of steps)
    test(`${step}: no silence is without its entry, and no entry counts twice`, async () => {
      const { dir, copyDir, journal, published, waiting } = openJournal();
      const child = spawn(process.execPath, [program, dir, step], { stdio: "inherit" });
      const [, signal] = await once(child, "exit");
      assert.equal(signal, step === "never" ? null : "SIGKILL");
      const state = await openStateFile({ dir: join(dir, "state"), copyDir, now: Date.now }).read();
      assert.equal(state.silences.length, isChanged ? 1 : 0);
      const before = existsSync(join(dir, "published")) ? readFileSync(join(dir, "published"), "utf8") : "";
      assert.equal(await journal.sweep(0), outcome === "unknown" ? 1 : 0);
      assert.deepEqual(
        published.map(({ id, payload }) => [id, payload]),
        outcome === "unknown" ? [["entry-1", { key: "*", outcome: "unknown" }]] : [],
      );
      const told = new Set([...before.split("\n").filter(Boolean), ...published.map(({ id }) => id)]);
      assert.equal(told.size, step === "asked" ? 0 : 1);
      assert.deepEqual([await journal.sweep(0), waiting()], [0, []]);
    });
});

test("a refused change leaves no entry, one that failed in another way leaves it to the sweep", async () => {
  const { journal, published, waiting } = openJournal();
  const fails = (error: Error) => journal.around(entryOf("x"), () => Promise.reject(error));
  await assert.rejects(fails(new Fault("not_found")), { fault: "not_found" });
  assert.deepEqual(waiting(), []);
  await assert.rejects(fails(new Error("torn")), /torn/);
  assert.deepEqual([published, waiting()], [[], ["x.json"]]);
  assert.equal(await journal.sweep(60_000), 0);
  assert.equal(await journal.sweep(0), 1);
});

test("while the database is away changes are made, and their entries wait", async () => {
  const { journal, published, about, waiting } = openJournal();
  about.isAway = true;
  assert.equal(await journal.around(entryOf("a"), async () => "made"), "made");
  await assert.rejects(journal.sweep(0), /away/);
  assert.deepEqual(waiting(), ["a.made.json"]);
  about.isAway = false;
  assert.equal(await journal.sweep(60_000), 1);
  assert.deepEqual([published, waiting()], [[entryOf("a")], []]);
});

test("a command of the host leaves what it did to the service, which knows that it was done", async () => {
  const { dir, copyDir, journal, published, waiting } = openJournal();
  const host = createAuditJournal({ dir: join(dir, "state"), copyDir, publish: undefined });
  await host.around(entryOf("made"), async () => undefined);
  await assert.rejects(host.around(entryOf("refused"), () => Promise.reject(new Fault("not_found"))));
  assert.deepEqual(waiting(), ["made.made.json"]);
  assert.equal(await journal.sweep(60_000), 1);
  assert.deepEqual([published, waiting()], [[entryOf("made")], []]);
});

test("what is no entry is removed and handed to nobody; entries that others could have written are not read", async () => {
  const { dir, copyDir, journal, published, waiting } = openJournal();
  mkdirSync(join(dir, "state/audits"), { recursive: true });
  for (const [name, text] of [
    ["torn.json", '{"id":'],
    ["half.json.partial", "{}"],
    ["odd name.json", JSON.stringify(entryOf("odd"))],
    ["other.json", JSON.stringify({ id: "other" })],
  ])
    writeFileSync(join(dir, "state/audits", name ?? ""), text ?? "");
  await journal.sweep(0);
  assert.deepEqual([published, waiting()], [[], []]);
  mkdirSync(join(copyDir, "audits"), { recursive: true });
  writeFileSync(join(copyDir, "audits/forged.json"), JSON.stringify(entryOf("forged")));
  chmodSync(copyDir, 0o777);
  assert.equal(await journal.sweep(0), 0);
  chmodSync(copyDir, 0o700);
  assert.equal(await journal.sweep(0), 1);
});

test("where neither folder can be written nothing is changed", async () => {
  const { dir, journal } = openJournal();
  writeFileSync(join(dir, "state"), "a file");
  let changes = 0;
  const change = async () => void changes++;
  await journal.around(entryOf("in-memory"), change);
  rmSync(join(dir, "copy"), { recursive: true });
  writeFileSync(join(dir, "copy"), "a file too");
  await assert.rejects(journal.around(entryOf("nowhere"), change), { fault: "unavailable" });
  assert.equal(changes, 1);
});
