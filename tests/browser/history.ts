// The charts, with a day that is written as lifecycle writes it: nobody waits for a day.

import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { en } from "../../services/panel/src/words/en/index.ts";
import { zh } from "../../services/panel/src/words/zh/index.ts";
import type { Area, Fixture } from "./fixture.ts";

const { history } = en;

async function database({ stack }: Fixture, text: string): Promise<void> {
  const client = new pg.Client(stack.file().database_url);
  await client.connect();
  await client.query(text).finally(() => client.end());
}

const day = "date_bin('5 minutes', now(), timestamptz 'epoch')";

/** Awake from 20 to 3 hours ago, with an hour about which nothing is known. */
const aDay = `
  insert into lifecycle.server_history
    select 'survival', t, 5, 5, round(5 * p), ceil(p) + 1, round(5 * (900 + 60 * p)), round(5 * (80 + 70 * p)),
      case when p > 6 then 18.4 else 20 end, 5, 1
    from generate_series(${day} - interval '20 hours', ${day} - interval '3 hours', interval '5 minutes') t,
      lateral (select 4 + 4 * sin(extract(epoch from t) / 9000) as p) players
    where t not between ${day} - interval '9 hours' and ${day} - interval '8 hours'
    on conflict do nothing;
  delete from lifecycle.server_phases where server_name = 'survival';
  insert into lifecycle.server_phases values
    ('survival', now() - interval '23 hours', 'Stopped', false, null),
    ('survival', now() - interval '20 hours', 'Starting', true, null),
    ('survival', now() - interval '1195 minutes', 'Running', false, 14),
    ('survival', now() - interval '3 hours', 'Stopped', false, null);
  insert into lifecycle.platform_history
    select t, 5, 5, round(5 * p), round(30 * p), ceil(7 * p)
    from generate_series(${day} - interval '22 hours', ${day} - interval '1 hour', interval '5 minutes') t,
      lateral (select 3 + 2 * sin(extract(epoch from t) / 9000) as p) servers
    on conflict do nothing`;

const crash = (id: string, ago: string, what: string) => `
  insert into lifecycle.server_crashes values
    ('${id}', 'survival', '${id}', now() - interval '${ago}', ${what})`;
const crashIds = ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"] as const;
const mod = "'forgeconfigapiport', 1, 'Error', 41, false, null, 2048";
const lines = `array['[01:20:40] [main/INFO]: ModLauncher running', '[01:20:47] [main/ERROR]: Missing or unsupported <b>']`;
const twoCrashes = `${crash(crashIds[0], "2 days", `'memory_limit', null, 137, 'OOMKilled', 7200, true, 1990, 2048, '{}'`)};
  ${crash(crashIds[1], "2 minutes", `'missing_dependency', ${mod}, ${lines}`)}`;

export const addHistoryTests: Area = (fixture) => {
  test("a server's history has a chart for each value, and its gaps", async () => {
    const { owner, addressOf, inspect } = fixture();
    await database(fixture(), aDay);
    await owner.open(addressOf("admin_host", "/servers/survival/history"));
    await owner.sees(history.starts(1, 14));
    const charts = await owner.page.$$eval("svg[role=img]", (all) =>
      all.map((one) => one.getAttribute("aria-label")),
    );
    // That of the world's size is there once another area has made a backup.
    const sampled = charts.filter((label) => !label?.includes("Size of the world"));
    assert.equal(sampled.length, 5, charts.join("; "));
    const ofSamples = "svg[role=img]:not([aria-label*='Size of the world']) > g > path";
    const begins = await owner.page.$$eval(ofSamples, (all) =>
      all.map((one) => one.getAttribute("d")?.split("M").length),
    );
    assert.ok(
      begins.every((parts) => (parts ?? 0) >= 3),
      `lines are interrupted: ${begins}`,
    );
    await owner.page.locator("svg[role=img]:has(path)").hover();
    await inspect(owner, "history");
    await owner.page.locator("main summary").click();
    await owner.page.waitForSelector("tbody tr");
    await inspect(owner, "history-table");
    await owner.page.locator("main select").fill("30d");
    await owner.page.waitForFunction(() => location.search === "?range=30d");
    await owner.sees(history.starts(1, 14));
    await inspect(owner, "history-30d");
  });

  test("a server without values says why there are none", async () => {
    const { owner, addressOf, inspect } = fixture();
    await database(fixture(), "delete from lifecycle.server_history where server_name = 'survival'");
    await owner.open(addressOf("admin_host", "/servers/survival/history"));
    await owner.sees(history.noTps);
    await inspect(owner, "history-empty");
  });

  test("a crash is on the overview with its cause and last lines, and all of them are with the history", async () => {
    const { owner, addressOf, inspect } = fixture();
    await database(fixture(), twoCrashes);
    for (const language of ["en", "zh-CN"] as const) {
      const words = (language === "en" ? en : zh).crashes;
      await owner.page.evaluate((chosen) => localStorage.setItem("svc.language", chosen), language);
      await owner.open(addressOf("admin_host", "/servers/survival"));
      await owner.sees(words.causes.missing_dependency.title);
      await owner.sees("forgeconfigapiport");
      await owner.page.locator("main summary").click();
      await owner.sees("Missing or unsupported <b>");
      await inspect(owner, `server-crash-${language}`);
      await owner.press("link", words.all);
      await owner.isAt("/servers/survival/history");
      await owner.sees(words.causes.memory_limit.title);
      await inspect(owner, `history-crashes-${language}`);
    }
    await owner.page.evaluate(() => localStorage.removeItem("svc.language"));
    await database(fixture(), "delete from lifecycle.server_crashes where server_name = 'survival'");
  });

  test("the overview of staff has the platform's history, and a stranger sees none", async () => {
    const { owner, player, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/"));
    await owner.sees(history.platform);
    await owner.sees(history.startSeconds);
    await inspect(owner, "platform-history");
    await player.open(addressOf("panel_host", "/servers/survival/history"));
    await player.sees(en.shell.home);
  });
};
