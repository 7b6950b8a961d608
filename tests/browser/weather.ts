// What happens between the browser and the services while somebody works. A page never goes white, keeps what it shows,
// signs nobody out but by 401, and is well again by itself.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { en } from "../../services/panel/src/words/en/index.ts";
import { packs } from "../../services/panel/src/words/en/packs.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import { freeze } from "../fault/processes.ts";
import { type BehindEdge, behindEdge, type Passing, type Weather } from "./edge.ts";
import { type Area, playerAt } from "./fixture.ts";
import { type Person, selectorOf, whileReturning } from "./person.ts";
import { sampledAddresses } from "./routes.ts";

const { create, files, keys, leaving, server, serverConsole, shell } = en;

/** What the bar says of the age of what is shown. */
const asOf = new RegExp(shell.asOf(".+"));

const html = "text/html";

/** Of what an edge or a line does. When our own services are away, they are taken away, below. */
const weathers: readonly { name: string; weather: Weather }[] = [
  {
    name: "429 on everything",
    weather: {
      kind: "answer",
      status: 429,
      type: html,
      body: "<h1>Too many requests</h1>",
      headers: { "retry-after": "1" },
    },
  },
  { name: "half a body", weather: { kind: "half" } },
  {
    name: "a page of an edge",
    weather: { kind: "answer", status: 502, type: html, body: "<h1>Bad gateway</h1>" },
  },
  {
    name: "a page of an edge that calls itself well",
    weather: { kind: "answer", status: 200, type: html, body: "<h1>Hi</h1>" },
  },
  { name: "a cut line", weather: { kind: "cut" } },
];

const isApi = ({ path }: Passing) => path.startsWith("/api/");

type Outage = {
  /** A process of the stack that hangs: it is there and answers nothing. */
  part: string;
  /** What is 503 without it. */
  probe: string;
  /** A page that reads from it whenever somebody comes back to it, and words that stay on it. */
  open: { path: string; word: string };
};

const outages: readonly Outage[] = [
  {
    part: "postgres",
    probe: "/audit",
    open: { path: "/admin/audit", word: en.audit.actions["server.create"] },
  },
  { part: "nats", probe: "/audit", open: { path: "/admin/audit", word: en.audit.actions["server.create"] } },
  {
    part: "storage",
    probe: "/servers/survival/jobs",
    open: { path: "/servers/survival/backups", word: en.backups.make },
  },
  {
    part: "lifecycle",
    probe: "/servers/survival/schedules",
    open: { path: "/servers/survival/schedules", word: en.schedules.title },
  },
  // Every request asks it who is there.
  { part: "identity", probe: "/audit", open: { path: "/admin/users", word: en.users.create } },
  { part: "builds", probe: "/submissions", open: { path: "/admin/builds", word: packs.builds.none } },
];

/** Makes the page poll, as coming back to the tab does. */
async function poll({ page }: Person): Promise<void> {
  await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
}

/** Something is there to read, and nobody was sent away. */
async function assertAlive({ page }: Person, path: string, about: string): Promise<void> {
  const shown = await page.evaluate(() => ({
    path: location.pathname,
    // biome-ignore lint/performance/useDomNodeTextContent: only what is shown counts
    text: document.querySelector("main")?.innerText.trim() ?? "",
    isLoading: document.querySelector("main [role=progressbar]") !== null,
    isEnded: document.querySelector("[role=dialog]") !== null,
  }));
  assert.equal(shown.path, path, `${about}: the address stays`);
  assert.ok(shown.text !== "" || shown.isLoading, `${about}: the page is white`);
  assert.equal(shown.isEnded, false, `${about}: no dialog says that the session ended`);
}

/** One page of the sample for each outage, in full four that no other outage has. */
const pagesAt = (at: number) =>
  sampledAddresses(outages.length)
    .filter((_, place) => place % outages.length === at)
    .map(([, path]) => path)
    .slice(0, 4);

/** Whether a page shows all again. What costs the platform a Job is read again only when somebody asks. */
const getsWell = ({ page }: Person) =>
  page.evaluate((retry: string) => {
    const buttons = [...document.querySelectorAll<HTMLButtonElement>("main [role=alert] button")];
    buttons.find(({ textContent }) => textContent === retry)?.click();
    return document.querySelector("h1") !== null && document.querySelector("[role=alert]") === null;
  }, shell.retry);

type Named = (typeof weathers)[number];

export const addWeatherTests: Area = (fixture) => {
  let behind: BehindEdge | undefined;
  const standBehind = async () => {
    const made = await behindEdge(fixture(), fixture().owner);
    fixture().atEnd(made.leave);
    return made;
  };
  for (const [at, path] of sampledAddresses(2)) {
    const [first, second] = [weathers[at % weathers.length], weathers[(at + 3) % weathers.length]] as [
      Named,
      Named,
    ];
    test(`${path} lives through ${first.name} and ${second.name}`, async () => {
      behind ??= await standBehind();
      const { person, edge } = behind;
      const address = fixture().addressOf("admin_host", path);
      await person.open(address);
      const heading = await person.page.$eval("h1", (h1) => h1.textContent);
      edge.set((passing) => (isApi(passing) ? first.weather : undefined));
      await until(async () => {
        await poll(person);
        return edge.met() > 0;
      });
      await assertAlive(person, path, first.name);
      assert.equal(await person.page.$eval("h1", (h1) => h1.textContent), heading, "what was there stays");
      edge.clear();
      await until(() => getsWell(person), 30_000, `${path} after ${first.name}`);
      edge.set((passing) => (isApi(passing) ? second.weather : undefined));
      await person.page.goto(address);
      await person.page.waitForSelector("main");
      await assertAlive(person, path, second.name);
      edge.clear();
      await until(() => getsWell(person), 30_000, `${path} after ${second.name}`);
      await assertAlive(person, path, "afterwards");
    });
  }

  test("without a network the palette says that it cannot be fetched, what is typed stays, and later it opens", async () => {
    const { owner, addressOf } = fixture();
    const { edge, person, leave } = await behindEdge(fixture(), owner);
    await person.open(addressOf("admin_host", "/servers/new"));
    await person.fill(create.name, "half-typed");
    edge.set(() => ({ kind: "cut" }));
    await person.press("button", keys.open);
    await person.sees(shell.partMissing);
    assert.equal(
      await person.page.$eval("input[name=name]", (field) => (field as HTMLInputElement).value),
      "half-typed",
    );
    await person.press("link", shell.audit);
    await person.press("button", leaving.leave);
    await person.sees(shell.unloaded);
    edge.clear();
    await person.sees(en.audit.actions["server.create"]);
    await person.press("button", keys.open);
    await person.sees(keys.groups.pages);
    await leave();
  });

  test("without a network a bar says so, and goes when it is back", async () => {
    const { owner, addressOf } = fixture();
    await owner.open(addressOf("admin_host", "/servers"));
    await owner.page.setOfflineMode(true);
    await owner.sees(shell.offline);
    await owner.sees(asOf);
    await owner.sees("survival");
    await owner.page.setOfflineMode(false);
    await owner.seesNo(shell.offline);
  });

  for (const [at, { part, probe, open }] of outages.entries()) {
    test(`${part} hangs: what is shown stays, other pages say why, and all is well again by itself`, async () => {
      const { owner, stack, addressOf } = fixture();
      stack.expectErrors(/./);
      await owner.open(addressOf("admin_host", open.path));
      await owner.sees(open.word);
      const thaw = freeze(stack, part);
      try {
        await whileReturning(owner.page, () => owner.sees(shell.away));
        await owner.sees(asOf);
        await owner.sees(open.word);
        await assertAlive(owner, open.path, `without ${part}`);
        assert.equal((await owner.request("GET", probe)).status, 503);
        for (const path of pagesAt(at)) {
          await owner.page.goto(addressOf("admin_host", path));
          await owner.page.waitForSelector("main");
          await assertAlive(owner, path, `opened without ${part}`);
        }
      } finally {
        thaw();
      }
      await until(() => getsWell(owner), 60_000, "the page to be read again");
      await owner.seesNo(shell.away);
    });
  }

  test("a session that is ended from another device is said over what was typed", async () => {
    const mc_uuid = randomUUID();
    const here = await playerAt(fixture(), "/account", mc_uuid);
    const elsewhere = await playerAt(fixture(), "/account", mc_uuid);
    await here.press("button", en.account.changeEmail);
    await here.fill(en.signIn.email, "typed@example.net");
    await elsewhere.press("button", en.account.endOthers);
    await elsewhere.sees(en.account.endedOthers(1));
    await here.sees(shell.sessionEnded);
    await here.sees(en.account.profile);
    const typed = await here.page.$eval("input[name=email]", (field) => (field as HTMLInputElement).value);
    assert.equal(typed, "typed@example.net");
    assert.deepEqual([...here.faults(), ...elsewhere.faults()], []);
    await here.leave();
    await elsewhere.leave();
  });

  test("a budget of codes that is used up is said at the field, and what was typed stays", async () => {
    const { owner, addressOf } = fixture();
    const code = "ABCD2345";
    const person = await playerAt(fixture(), "/account");
    const refused = async () => {
      const { status } = await person.request("POST", "/account/link/verify", { code });
      return status === 429;
    };
    await until(refused, 60_000, "the budget to be used up");
    await person.press("button", en.account.linkAnother);
    await person.fill(en.signIn.gameCode, code);
    await person.page.keyboard.press("Enter");
    await person.sees(en.faults.rate_limited);
    const typed = await person.page.$eval(
      "input[name=game-code]",
      (field) => (field as HTMLInputElement).value,
    );
    assert.equal(typed.replace(/\W/g, ""), code);
    assert.deepEqual(person.faults(), []);
    await person.leave();
    await owner.open(addressOf("admin_host", "/"));
  });

  test("the gateway is killed while somebody saves: the text stays, and the second try saves it", async () => {
    const { owner, stack, addressOf } = fixture();
    const name = "kept.txt";
    await owner.open(addressOf("admin_host", "/servers/survival/files"));
    await owner.press("button", files.newFile);
    await owner.fill(files.newFileName, name);
    await owner.page.keyboard.press("Enter");
    await owner.press("link", name);
    const editor = `::-p-aria([name=${JSON.stringify(files.content(isolate(name)))}][role="textbox"])`;
    await owner.page.locator(editor).click();
    await owner.page.keyboard.type("typed before the gateway died");
    await owner.sees(files.unsaved);
    const thaw = freeze(stack, "gateway-external");
    await owner.press("button", files.save);
    stack.kill("gateway-external");
    thaw();
    await owner.sees(en.faults.offline);
    await owner.sees(files.unsaved);
    const isSaved = () =>
      owner.page.evaluate((word: string) => !document.body.textContent?.includes(word), files.unsaved);
    const save = owner.page.locator(selectorOf("button", files.save)).setTimeout(2_000);
    await until(
      async () => {
        if (await isSaved()) return true;
        // It cannot be pressed while a try is under way, nor once the text is saved.
        await save.click();
        return isSaved();
      },
      60_000,
      "the text to be saved by the gateway that is back",
    );
    const kept = await owner.request("GET", `/servers/survival/file?path=${name}`);
    assert.equal(
      Buffer.from(String(kept.body["content"]), "base64").toString(),
      "typed before the gateway died",
    );
  });

  test("the gateway is killed under an open console: no line is lost or shown twice", async () => {
    const { owner, stack, addressOf } = fixture();
    await owner.open(addressOf("admin_host", "/servers/survival"));
    await owner.press("button", server.wake);
    await owner.page.waitForFunction(
      (word: string) => document.querySelector("header [role=status]")?.textContent?.includes(word),
      { timeout: 120_000 },
      server.phases.Running,
    );
    const say = async (text: string) => {
      await until(
        async () => {
          const { status } = await owner
            .request("POST", "/servers/survival/command", { command: `say ${text}` })
            .catch(() => ({ status: 0 }));
          return status === 200;
        },
        60_000,
        "the command",
      );
    };
    await say("before the break");
    await owner.sees("[Server] before the break");
    stack.kill("gateway-external");
    await say("after the break");
    await owner.sees("[Server] after the break");
    const shown = await owner.page.$$eval("[role=log] [data-index]", (lines) =>
      lines.map((line) => line.textContent ?? ""),
    );
    for (const text of ["before", "after"])
      assert.equal(
        shown.filter((line) => line.includes(`[Server] ${text} the break`)).length,
        1,
        shown.join("\n"),
      );
    await owner.sees(serverConsole.title);
  });

  test("a clock that is an hour wrong changes nothing", async () => {
    const { owner, addressOf } = fixture();
    const { identifier } = await owner.page.evaluateOnNewDocument(() => {
      const now = Date.now;
      Date.now = () => now() + 3_600_000;
    });
    await owner.open(addressOf("admin_host", "/servers/survival"));
    await owner.sees("survival");
    await assertAlive(owner, "/servers/survival", "an hour ahead");
    await owner.page.removeScriptToEvaluateOnNewDocument(identifier);
  });
};
