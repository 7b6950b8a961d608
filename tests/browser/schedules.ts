import assert from "node:assert/strict";
import { test } from "node:test";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import type { Area } from "./fixture.ts";

const { schedules: words } = en;

export const addScheduleTests: Area = (fixture) => {
  const label = "nightly restart";

  test("a schedule is made from a cron line, with its runs in both zones", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.page.emulateTimezone("Asia/Shanghai");
    await owner.open(addressOf("admin_host", "/servers/survival/schedules"));
    await owner.sees(words.none);
    await inspect(owner, "schedules-empty");
    await owner.press("button", words.create);
    await owner.fill(words.label, label);
    await owner.press("button", words.cron);
    await owner.fill(words.cronField, "0 3 1 * *");
    await owner.sees(words.cronProblems.dates);
    await owner.fill(words.cronField, "CRON_TZ=Europe/Berlin 0 3 * * 1-5");
    await owner.sees(words.cronDone);
    await owner.sees(`${words.zoneYours} (Asia/Shanghai)`);
    await inspect(owner, "schedules-editor");

    // Closed by mistake: what was typed is there again.
    await owner.page.keyboard.press("Escape");
    await owner.page.waitForSelector('[role="dialog"]', { hidden: true });
    await owner.press("button", words.create);
    const typed = await owner.page
      .locator('input[name="label"]')
      .map(({ value }) => value)
      .wait();
    assert.equal(typed, label);
    await owner.press("button", words.createAction);
    await owner.sees("At 03:00, Mon–Fri, Europe/Berlin, warns players 5 minutes before");
    await owner.sees(/Next run .*03:00 \(.*for you\)/);
  });

  test("runs on the days when the clock changes say what becomes of them", async () => {
    const { owner, addressOf, inspect } = fixture();
    for (const [day, said] of [
      ["2027-03-26", words.skipped("02:30", "01:30")],
      ["2027-10-29", words.doubled("02:30")],
    ] as const) {
      const { identifier } = await owner.page.evaluateOnNewDocument(
        (start: number) => {
          const begun = performance.now();
          Date.now = () => start + performance.now() - begun;
        },
        Date.parse(`${day}T12:00:00Z`),
      );
      await owner.open(addressOf("admin_host", "/servers/survival/schedules"));
      await owner.press("button", words.create);
      await owner.press("button", words.cron);
      await owner.fill(words.cronField, "CRON_TZ=Europe/Berlin 30 2 * * *");
      await owner.sees(words.cronDone);
      await owner.sees(said);
      await inspect(owner, `schedules-clock-${day}`);
      await owner.page.keyboard.press("Escape");
      await owner.page.removeScriptToEvaluateOnNewDocument(identifier);
    }
  });

  test("it is run now, and says why nothing was done", async () => {
    const { owner, inspect } = fixture();
    await owner.press("button", words.runOf(isolate(label)));
    await owner.sees(words.codes.server_not_running);
    await inspect(owner, "schedules");
  });

  test("it is switched off and on again, and edited; what is wrong stands at its field", async () => {
    const { owner, inspect } = fixture();
    const flip = owner.page.locator('input[role="switch"]');
    await flip.click();
    await owner.sees(words.off);
    await owner.press("button", words.undo);
    await owner.sees(words.next);
    await choose(words.edit);
    await owner.page.locator("[role=dialog] select").fill("command");
    await owner.press("button", words.saveAction);
    await owner.sees(words.commandProblem);
    await inspect(owner, "schedules-editor-refused");
    await owner.fill(words.command, "/say good morning");
    await owner.press("button", words.saveAction);
    await owner.sees("say good morning");
  });

  test("a chain is made of steps with waits and conditions, and says how each of them ended", async () => {
    const { owner, inspect } = fixture();
    await choose(words.edit);
    await owner.press("button", words.addStep);
    await owner.press("button", words.addStep);
    await owner.press("button", words.removeStep(2));
    await owner.press("button", words.saveAction);
    await owner.sees(words.commandProblem);
    await inspect(owner, "schedules-editor-chain");
    const step = `[role=dialog] section[aria-label=${JSON.stringify(words.stepNumber(2))}]`;
    await owner.page.locator(`${step} input`).fill("say all is well");
    const [, wait, condition] = await owner.page.$$(`${step} select`);
    await wait?.select("60");
    await condition?.select("previous_succeeded");
    await owner.press("button", words.saveAction);
    await owner.sees(/say all is well.* · after 1 minute · Only if the step before it succeeded/);
    await owner.press("button", words.runOf(isolate(label)));
    await owner.sees(words.states.waiting);
    await inspect(owner, "schedules-chain-waiting");
    // A run that waits is ended by switching its schedule off.
    await owner.page.locator('input[role="switch"]').click();
    await owner.sees(words.codes.run_cancelled);
    await inspect(owner, "schedules-chain");
    await owner.press("button", words.undo);
    await owner.sees(words.next);
    await choose(words.edit);
    await owner.press("button", words.removeStep(2));
    await owner.press("button", words.saveAction);
    await owner.page.waitForSelector('[role="dialog"]', { hidden: true });
  });

  test("it waits for something instead of a time, and says what", async () => {
    const { owner, inspect } = fixture();
    await choose(words.edit);
    const selects = () => owner.page.$$("[role=dialog] select");
    const pick = async (value: string) => {
      for (const select of await selects()) {
        const values = await select.evaluate((one) => [...one.options].map((option) => option.value));
        if (values.includes(value)) await select.select(value);
      }
    };
    await pick("trigger");
    await owner.fill(words.emptyMinutes, "9999");
    await owner.press("button", words.saveAction);
    await owner.sees(words.emptyMinutesProblem(1_440));
    await inspect(owner, "schedules-editor-trigger");
    await owner.fill(words.emptyMinutes, "10");
    await owner.press("button", words.saveAction);
    await owner.sees(`${words.emptyFor(10)}, ${words.pauseOf(5)}`);
    await inspect(owner, "schedules-trigger");
    await choose(words.edit);
    await pick("clock");
    await owner.press("button", words.saveAction);
    await owner.sees(words.next);
  });

  test("a deleted schedule can be brought back", async () => {
    const { owner } = fixture();
    const listed = () =>
      owner.page.evaluate(async () => {
        const response = await fetch("/api/v1/servers/survival/schedules");
        return ((await response.json()) as { schedules: { label: string; command: string }[] }).schedules;
      });
    await choose(words.remove);
    await owner.sees(words.none);
    assert.deepEqual(await listed(), []);
    await owner.press("button", words.undo);
    await owner.sees("say good morning");
    const kept = (await listed()).map(({ label: name, command }) => [name, command]);
    assert.deepEqual(kept, [[label, "say good morning"]]);
    await choose(words.remove);
    await owner.sees(words.none);
    await owner.page.emulateTimezone();
  });

  test("a stranger sees no page of schedules", async () => {
    const { player, addressOf } = fixture();
    await player.open(addressOf("panel_host", "/servers/survival/schedules"));
    await player.sees(en.shell.home);
  });

  async function choose(word: string): Promise<void> {
    const { page } = fixture().owner;
    await page.locator(`button[aria-label=${JSON.stringify(words.more(isolate(label)))}]`).click();
    await page.locator(`::-p-aria([name=${JSON.stringify(word)}][role="menuitem"])`).click();
  }
};
