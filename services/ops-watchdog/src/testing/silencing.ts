// A process that silences alerts and is killed at a step: silencing.ts DIR STEP. It tells of what it published in DIR/published.

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { createAuditJournal } from "../watchdog/audit-journal.ts";
import { addSilence } from "../watchdog/silence.ts";
import { openStateFile } from "../watchdog/state-file.ts";

const [dir = "", killedAt = ""] = process.argv.slice(2);
const step = (name: string) => name === killedAt && process.kill(process.pid, "SIGKILL");
const [stateDir, copyDir] = [join(dir, "state"), join(dir, "copy")];

const file = openStateFile({ dir: stateDir, copyDir, now: Date.now });
const journal = createAuditJournal({
  ...{ dir: stateDir, copyDir },
  publish: async ({ id }) => {
    step("publishing");
    appendFileSync(join(dir, "published"), `${id}\n`);
    step("published");
  },
});
const wanted = { key: "*", hours: 1, reason: "moving", by: "amelia" };
const head = { id: "entry-1", at: new Date().toISOString(), actor: "amelia", source: "external" };
step("asked");
await journal.around({ ...head, action: "alert.silence", payload: { key: "*" } }, async () => {
  step("admitted");
  await file.update((state) => addSilence(state, wanted, Date.now())?.state);
  step("changed");
});
