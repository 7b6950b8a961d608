import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { en } from "../../services/panel/src/words/en/index.ts";
import type { Area } from "./fixture.ts";
import { writeFile } from "./person.ts";

export const addBackupTests: Area = (fixture) => {
  test("a backup is made, labelled, pinned, browsed and restored; what it replaces is backed up first", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/servers/survival/backups"));
    await owner.sees(en.backups.none);
    await inspect(owner, "backups-empty");
    await owner.press("button", en.backups.make);
    await owner.sees(en.backups.jobsDone.backup);
    await owner.sees(en.backups.reasons.manual);

    const more = async (word: string) => {
      await owner.page.locator('button[aria-label^="More for the backup"]').click();
      await owner.page.locator(`::-p-aria([name=${JSON.stringify(word)}][role="menuitem"])`).click();
    };
    await more(en.backups.label);
    await owner.fill(en.backups.labelField, "before the castle");
    await inspect(owner, "backups-label");
    await owner.page.keyboard.press("Enter");
    await owner.sees("before the castle");
    await more(en.backups.pin);
    await owner.sees(en.backups.pinned.staff);
    await more(en.backups.files);
    await owner.sees("server.properties");
    await inspect(owner, "backups-browse");
    await owner.press("button", en.shell.close);

    // What the backup did before it said so holds the world for a moment longer.
    await until(
      async () =>
        (await writeFile(owner, { server: "survival", path: "castle.txt" }, "built")).status === 200,
      20_000,
      "castle.txt to be written",
    );
    await owner.page.locator('button[aria-label^="Restore the backup"]').click();
    await owner.sees(en.backups.restoreSafety);
    await owner.sees(en.backups.plan.removed(1, "5 B"));
    await owner.page.locator(`::-p-text(${en.backups.plan.show})`).click();
    await owner.sees("castle.txt");
    await owner.sees(en.backups.plan.one.removed("5 B"));
    await inspect(owner, "backups-restore");
    await owner.page.locator('input[name="confirm"]').fill("survival");
    await owner.press("button", en.backups.restoreAction);
    await owner.sees(en.backups.jobsDone.restore);
    await owner.sees(en.backups.reasons.pre_restore);
    await inspect(owner, "backups");
    await more(en.backups.changes.action);
    await owner.sees("castle.txt");
    await owner.sees(en.backups.changes.one.added("5 B"));
    await inspect(owner, "backups-changes");
    await owner.press("button", en.shell.close);
  });

  test("a restore that is refused is said, although its dialog is gone", async () => {
    const { owner } = fixture();
    await owner.page.locator('button[aria-label^="Restore the backup"]').click();
    await owner.sees(en.backups.restoreSafety);
    // What it would change moves the buttons when it comes.
    await owner.sees(en.backups.plan.show);
    const { body } = await owner.request("GET", "/backups?server=survival");
    const [newest] = body["backups"] as { id: string }[];
    assert.equal((await owner.request("DELETE", `/backups/${newest?.id}`)).status, 200);
    await owner.page.locator('input[name="confirm"]').fill("survival");
    await owner.press("button", en.backups.restoreAction);
    await owner.sees(en.faults.no_backup);
  });

  test("a stranger sees no page of backups", async () => {
    const { player, addressOf } = fixture();
    await player.open(addressOf("panel_host", "/servers/survival/backups"));
    await player.sees(en.shell.home);
    assert.equal(await player.page.$("button[aria-label^='Restore']"), null);
  });
};
