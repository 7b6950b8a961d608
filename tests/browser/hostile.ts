// Text from outside that wants to act: markup, escapes, characters that hide or turn text. Nothing of it may run, leave its
// place or hide. A violation of the policy fails the test as everywhere.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { many } from "@svc/config/testing";
import { until } from "@svc/local-stack/testing";
import type { HTTPRequest, Page } from "puppeteer-core";
import { makeZip } from "../../libs/world/src/testing/zip.ts";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import { pace } from "../bench/harness/line-rate.ts";
import { logFiles } from "../bench/subjects/console-server.ts";
import { send } from "../flow/stack.ts";
import { type Area, codeOf, type Fixture, playerAt } from "./fixture.ts";
import type { Person } from "./person.ts";

const markup = `<img src=x onerror="window.wasRun=1"><script>window.wasRun=1</script>`;
const texts = [
  markup,
  "\u202egpj.exe\u2066",
  "zero\u200bwidth\ufeff",
  "a".repeat(32),
  "世界服务器的名字很长很长很长很长很长很长很长很长很长",
  "👩‍👩‍👧‍👦🏴‍☠️ team",
  "مرحبا بالعالم",
  "`; drop table servers; --",
] as const;
const floodPerSecond = 5_000;
const floodSeconds = many(8, 3);
/** The console keeps 20,000 lines, and trims them 2,000 at a time; a page without any has 10 MB. */
const mostKept = 22_000;
const mostHeap = 60_000_000;
const mostDrawn = 200;

const nameOf = (at: number) => `hostile-${at}`;

/** A line that is read together with the last ones of a flood is left out as they are. */
async function comesToRest(page: Page): Promise<void> {
  const readLog = () => page.$eval("[role=log]", (log) => log.textContent);
  const isAtRest = async () => {
    const before = await readLog();
    await delay(1_000);
    return (await readLog()) === before;
  };
  await until(isAtRest, 30_000, "a console that rests");
}

/** Fails when something ran, hides, turns text, or is wider than a phone. */
async function assertHarmless({ page }: Person, about: string): Promise<void> {
  const found = await page.evaluate(() => {
    const shown = `${document.title} ${document.body.textContent} ${[
      ...document.querySelectorAll("[aria-label], [title]"),
    ]
      .map((element) => `${element.ariaLabel} ${element.getAttribute("title")}`)
      .join(" ")}`;
    return {
      wasRun: "wasRun" in window,
      images: document.querySelectorAll('img:not([src^="/assets/"], [src^="data:"]), iframe, object, embed')
        .length,
      hidden: [...shown.matchAll(/[\u202a-\u202e\u2060\u200b\u200e\u200f\ufeff]|(?![\n\t])\p{Cc}/gu)].map(
        ({ 0: character, index }) =>
          `U+${character.charCodeAt(0).toString(16)} after ${JSON.stringify(shown.slice(Math.max(0, index - 30), index))}`,
      ),
    };
  });
  assert.deepEqual(found, { wasRun: false, images: 0, hidden: [] }, about);
}

async function assertHarmlessOnPhone(person: Person, about: string): Promise<void> {
  await assertHarmless(person, about);
  await person.page.setViewport({ width: 360, height: 740 });
  const overflow = await person.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  await person.page.setViewport({ width: 1_440, height: 900 });
  assert.ok(overflow <= 0, `${about} is wider than 360 px by ${overflow}`);
}

/** Brings the server to where it is wanted. */
async function bring({ request }: Person, phase: "Running" | "Stopped"): Promise<void> {
  const isThere = async () => (await request("GET", "/servers/survival/status")).body["phase"] === phase;
  if (await isThere()) return;
  const path = `/servers/survival/${phase === "Running" ? "wake" : "stop"}`;
  // A wake is refused for a while after the one before.
  await until(async () => (await request("POST", path)).status < 300, 60_000, path);
  await until(isThere, 60_000, phase);
}

type Visit = (path: string, sign: string | RegExp) => Promise<void>;

/** Opens a page at a desk and on a phone, where nothing may act, hide or stand out. */
const visitOf =
  (fixture: () => Fixture): Visit =>
  async (path, sign) => {
    const { owner, addressOf } = fixture();
    await owner.open(addressOf("admin_host", path));
    await owner.sees(sign);
    await assertHarmlessOnPhone(owner, path);
  };

/** With the server awake, as the tests of its console leave it. */
export const addHostileTests: Area = (fixture) => {
  const visit = visitOf(fixture);

  test("names of servers are text, wherever they stand", async () => {
    const { owner } = fixture();
    const made: number[] = [];
    for (const [at, displayName] of texts.entries()) {
      const name = nameOf(at);
      const { status, body } = await owner.request("POST", "/servers", {
        name,
        subdomain: name,
        displayName,
      });
      if (status === 201) made.push(at);
      else assert.equal((body["error"] as { code: string }).code, "bad_display_name", displayName);
    }
    assert.ok(made.length >= 5, made.join());
    await visit("/servers", "drop table");
    await visit("/", "survival");
    for (const at of made) await visit(`/servers/${nameOf(at)}`, en.server.phases.Stopped);
    await visit(`/servers/${nameOf(made[0] ?? 0)}/settings`, en.settings.hardware);
    await owner.press("button", en.keys.open);
    await owner.sees(en.keys.groups.servers);
    await assertHarmless(owner, "the palette");
    await owner.page.keyboard.press("Escape");
  });

  test("a program that signs in, and what the audit log keeps of all this, are text", async () => {
    const { owner, stack, addressOf } = fixture();
    const { external_base_url, admin_host, panel_host } = stack.file();
    const host = `${admin_host}:${new URL(external_base_url).port}`;
    const headers = { host, "user-agent": `${markup} \u00e9` };
    await send(new URL("/api/v1/auth/email/start", external_base_url).href, {
      method: "POST",
      headers,
      body: { email: `${"x".repeat(40)}@example.net` },
    });
    const mc_uuid = randomUUID();
    const player = await playerAt(fixture(), "/account", mc_uuid);
    const bound = await send(new URL("/api/v1/auth/bind", external_base_url).href, {
      method: "POST",
      headers: { ...headers, host: `${panel_host}:${new URL(external_base_url).port}` },
      body: { code: await codeOf(fixture(), mc_uuid) },
    });
    assert.equal(bound.status, 200, JSON.stringify(bound.body));
    await player.open(addressOf("panel_host", "/account"));
    await player.sees(en.account.endOthers);
    await assertHarmlessOnPhone(player, "the sessions of an account");
    const { user_id } = (await player.request("GET", "/me")).body;
    await visit(`/admin/users/${String(user_id)}`, mc_uuid);
    assert.deepEqual(player.faults(), []);
    await player.leave();
    await visit("/admin/audit", en.audit.actions["server.create"]);
    // An opened entry is drawn anew, so that a handle of the next one might be gone.
    await owner.page.$$eval("summary", (all) => {
      for (const summary of all.slice(0, 5)) summary.click();
    });
    await assertHarmless(owner, "the audit log, unfolded");
    await visit("/servers/survival/activity", en.audit.actions["server.create"]);
    await visit("/account", en.account.title);
  });

  test("lines of a console are text, in the log, its copy and its search", async () => {
    const { owner, addressOf } = fixture();
    await bring(owner, "Running");
    await owner.open(addressOf("admin_host", "/servers/survival"));
    const say = async (text: string) => {
      const said = await owner.request("POST", "/servers/survival/command", {
        command: `say ${text}`,
      });
      assert.ok(said.status === 200 || said.status === 400, JSON.stringify(said.body));
      return said.status === 200;
    };
    let count = 0;
    for (const text of [
      ...texts,
      "\u001b[31mred\u001b]0;title\u0007",
      "§kobf§r §cred",
      "javascript:alert(1) https://example.net/<b>",
    ])
      if (await say(text)) count++;
    assert.ok(count >= 8, `${count} lines were said`);
    await say("the last line");
    await owner.sees("[Server] the last line");
    await assertHarmlessOnPhone(owner, "the console");
    const links = await owner.page.$$eval("[role=log] a", (all) =>
      all.map(({ protocol, rel }) => `${protocol} ${rel}`),
    );
    for (const link of links) assert.match(link, /^https?: .*noopener/);
  });

  test("long lines that come fast leave the console at its end and the page at hand", async () => {
    const { owner } = fixture();
    const many = Array.from({ length: 40 }, (_, n) =>
      owner.request("POST", "/servers/survival/command", { command: `say ${n} ${"x".repeat(900)}` }),
    );
    const taken = (await Promise.all(many)).filter(({ status }) => status === 200);
    assert.ok(taken.length > 10, `${taken.length} were taken`);
    await owner.fill(en.serverConsole.command, "say after the flood");
    await owner.page.keyboard.press("Enter");
    await owner.page.waitForFunction(() =>
      document.querySelector("[role=log]")?.textContent?.includes("[Server] after the flood"),
    );
    await assertHarmless(owner, "after a flood");
  });

  test(`a console that prints ${floodPerSecond} lines a second leaves the page at hand and its memory bounded`, async (t) => {
    const { owner, stack } = fixture();
    const { page } = owner;
    const log = newest(logFiles(stack.dataDir));
    // One line of 1 MiB among them.
    appendFileSync(log, `[12:00:00 INFO]: ${"x".repeat(1_048_576)}\n`);
    const flood = pace({ names: ["survival"], perSecond: floodPerSecond, seconds: floodSeconds }, (_, line) =>
      appendFileSync(log, `[12:00:00 INFO]: ${line}\n`),
    );
    const typed = "say typed in the middle of it";
    await page.focus("form input[enterkeyhint=send]");
    await page.keyboard.type(typed, { delay: (floodSeconds * 800) / typed.length });
    const field = await page.$eval(
      "form input[enterkeyhint=send]",
      (input) => (input as HTMLInputElement).value,
    );
    assert.equal(field, typed);
    assert.equal(await flood, floodPerSecond * floodSeconds);
    await comesToRest(page);
    await page.keyboard.press("Enter");
    await page.waitForFunction(() =>
      document.querySelector("[role=log]")?.textContent?.includes("[Server] typed in the middle of it"),
    );
    // The log itself says how many lines were left out.
    const note = new RegExp(`(?:^|\\n)${en.serverConsole.lines(4_711).replace("4711", "(\\d+)")}(?:\\n|$)`);
    // biome-ignore lint/performance/useDomNodeTextContent: only what is shown counts
    const shown = await page.$eval("main", (main) => main.innerText);
    const kept = Number(note.exec(shown)?.[1]);
    const drawn = await page.$$eval("[role=log] [data-index]", ({ length }) => length);
    await owner.session.send("HeapProfiler.collectGarbage");
    const { JSHeapUsedSize = 0 } = await page.metrics();
    t.diagnostic(
      `${kept} lines kept, ${drawn} drawn of at most ${mostDrawn}, heap ${Math.round(JSHeapUsedSize / 1e6)} MB of ${mostHeap / 1e6}`,
    );
    // A server may print 2,000 lines at once and 100 a second (docs/reference/console.md#follower).
    assert.ok(kept > 1_000 && kept <= mostKept, `${kept} lines are kept`);
    assert.ok(drawn > 0 && drawn <= mostDrawn, `${drawn} lines are drawn`);
    assert.ok(JSHeapUsedSize <= mostHeap, `the heap has ${JSHeapUsedSize} bytes`);
    await assertHarmlessOnPhone(owner, "after the second flood");
  });

  // A server prints at most 100 lines a second for long, so more lines than are kept would take minutes: they are made here.
  test("the oldest lines of a long console leave, and what somebody reads stays where it is", async () => {
    const { owner, addressOf } = fixture();
    const { page } = owner;
    const parts = [streamOf(0, 21_000), streamOf(21_000, 30_000)];
    let goOn: () => void = () => undefined;
    const second = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let asked = 0;
    const handle = (request: HTTPRequest) => {
      if (!new URL(request.url()).pathname.endsWith("/console")) return void request.continue();
      const body = parts[asked++];
      if (body === undefined) return;
      const answer = () => request.respond({ status: 200, contentType: "text/event-stream", body });
      void (asked === 1 ? answer() : second.then(answer));
    };
    await page.setRequestInterception(true);
    page.on("request", handle);
    await owner.open(addressOf("admin_host", "/servers/survival"));
    await owner.sees(en.serverConsole.lines(21_000));
    await page.locator("[role=log]").scroll({ scrollTop: 15_000 * 18 });
    await owner.sees(en.serverConsole.newLines(0));
    const before = await lineAtTop(page);
    assert.match(before, /line 15000|line 1[45]\d{3}/);
    goOn();
    await owner.sees(en.serverConsole.newLines(9_000));
    assert.equal(await lineAtTop(page), before, "the line that is read stays at the top");
    await page.locator("[role=log]").scroll({ scrollTop: 0 });
    await until(async () => Number((await lineAtTop(page)).replace(/\D/g, "")) >= 30_000 - mostKept);
    await owner.press("button", en.serverConsole.newLines(9_000));
    await page.waitForFunction(() =>
      document.querySelector("[role=log]")?.textContent?.includes("line 29999"),
    );
    page.off("request", handle);
    await page.setRequestInterception(false);
  });
};

/** The first line in sight. */
const lineAtTop = (page: Page) =>
  page.$eval("[role=log]", (log) => {
    const { top } = log.getBoundingClientRect();
    const lines = [...log.querySelectorAll("[data-index]")];
    return lines.find((line) => line.getBoundingClientRect().bottom > top + 1)?.textContent ?? "";
  });

/** Bytes of the stream of a console with these lines, each in a second of its own. */
const streamOf = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => `id: ${from + n + 1}\ndata: line ${from + n}\n\n`).join("");

function newest(files: readonly string[]): string {
  const [file] = files.map((path) => ({ path, at: statSync(path).mtimeMs })).sort((a, b) => b.at - a.at);
  return file?.path ?? assert.fail("no container has a log");
}

/** With the server asleep. */
export const addHostileFileTests: Area = (fixture) => {
  const folder = mkdtempSync(join(tmpdir(), "svc-hostile-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const visit = visitOf(fixture);

  test("labels of schedules, names of files and in zips, and the text in files are text", async () => {
    const { owner } = fixture();
    await bring(owner, "Stopped");
    for (const label of texts.slice(0, 7)) {
      const task = {
        action: "restart",
        timezone: "UTC",
        minute_of_day: 180,
        weekdays: 127,
        label: [...label].slice(0, 40).join(""),
      };
      const made = await owner.request("POST", "/servers/survival/schedules", task);
      assert.equal(made.status, 201, `${label}: ${JSON.stringify(made.body)}`);
    }
    await visit("/servers/survival/schedules", "team");
    const written: string[] = [];
    for (const text of texts) {
      const path = `${text.replaceAll("/", "_").slice(0, 60)}.txt`;
      const status = await writeFile(owner, path, `motd=${text}\n\u001b[31mred\u0007`);
      if (status === 200) written.push(path);
      else assert.equal(status, 400, path);
    }
    assert.ok(written.length >= 4, written.join());
    await visit("/servers/survival/files", "server.properties");
    for (const path of written)
      await visit(`/servers/survival/files?open=${encodeURIComponent(path)}`, en.files.back);

    assert.equal((await owner.request("POST", "/servers/survival/backup")).status, 202);
    const newest = () =>
      until(async () => {
        const { body } = await owner.request("GET", "/backups?server=survival");
        return (body["backups"] as { id: string }[])[0]?.id;
      }, 60_000);
    for (const label of [markup, texts[4], texts[5]]) {
      const labelled = await owner.request("PATCH", `/backups/${await newest()}`, { label });
      assert.equal(labelled.status, 200, JSON.stringify(labelled.body));
      await visit("/servers/survival/backups", en.backups.reasons.manual);
    }

    const { files, uploads } = en;
    const zip = "names.zip";
    const packed = join(folder, zip);
    writeFileSync(packed, makeZip(written.map((name) => ({ name, content: "from a zip" }))));
    await visit("/servers/survival/files", "server.properties");
    const choosing = owner.page.waitForFileChooser();
    await owner.press("button", uploads.files);
    await (await choosing).accept([packed]);
    await owner.sees(uploads.ended(1));
    await owner.press("button", files.more(isolate(zip)));
    await owner.press("menuitem", files.unzip);
    await owner.page.waitForSelector("main [role=alert] bdi");
    await assertHarmlessOnPhone(owner, "what stands in the way of a zip");
    await owner.press("button", uploads.close);
  });
};

function writeFile({ page }: Person, path: string, text: string): Promise<number> {
  return page.evaluate(
    async (where, content) => {
      const bytes = new TextEncoder().encode(content);
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
      const body = {
        content: btoa(String.fromCharCode(...bytes)),
        content_sha256: [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join(""),
      };
      const response = await fetch(`/api/v1/servers/survival/file?path=${encodeURIComponent(where)}`, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return response.status;
    },
    path,
    text,
  );
}
