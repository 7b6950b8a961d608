// What the files of this folder share: a stack without the game, a browser, its owner at the operator console, and a player
// who owns nothing at the panel. SVC_BROWSER_LANE names the browser, such as /usr/bin/chromium.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { after, afterEach, before, describe, test } from "node:test";
import type { Browser, Page } from "puppeteer-core";
import { en } from "../../services/panel/src/words/en/index.ts";
import {
  type CatalogueServer,
  openCatalogueServer,
} from "../../services/storage/src/testing/catalogue-server.ts";
import { type Stack, startStack, withoutGame } from "../flow/stack.ts";
import { startBrowser } from "./browser.ts";
import { type How, inspect, seed } from "./inspect.ts";
import { assertNoFaults, createPerson, type Person } from "./person.ts";

type Host = "panel_host" | "admin_host";

export type Fixture = {
  stack: Stack;
  /** What storage asks instead of Modrinth and Hangar. */
  catalogue: CatalogueServer;
  browser: Browser;
  owner: Person;
  player: Person;
  addressOf: (host: Host, path: string) => string;
  /** Fails with what axe or the width of a phone finds wrong, and keeps pictures under this name. */
  inspect: (person: Person, name: string, how?: Omit<How, "isWhole">) => Promise<void>;
  /** Ends what an area keeps over several tests, while the browser and the stack are still there. */
  atEnd: (end: () => Promise<void>) => void;
  /** Signs somebody in at /login with a code from the game; `look` sees the page before the code is typed. */
  signInByGame: (person: Person, look?: () => Promise<void>) => Promise<void>;
};

const [, services] = withoutGame;
/** Packs are built as well, one person submits several of them, and everybody signs in from one address. */
const stackArgs = [
  ["--only", `${services},registry-gate`],
  ["--set", "builds.submission_cooldown=0s"],
  ["--set", "builds.upload_cooldown=0s"],
  ["--set", "identity.sign_in_burst=10000"],
].flat();

/** Adds the tests of an area; the fixture exists once they run. */
export type Area = (fixture: () => Fixture) => void;

type SuiteOptions = {
  /** Looks at each state in all ways. */
  isWhole: boolean;
  /** False: there is nothing of it without `isWhole`. Default: true. */
  isSampled?: boolean;
};

/** A suite on a stack and a browser of its own. After each test nothing on the pages may have gone wrong. */
export function describePanel(title: string, { isWhole, isSampled = true }: SuiteOptions, add: Area): void {
  const binary = process.env["SVC_BROWSER_LANE"];
  describe(title, () => {
    if (!binary || !existsSync(binary)) {
      const why = binary ? `there is no ${binary}` : "SVC_BROWSER_LANE is not set";
      test("skipped: set SVC_BROWSER_LANE to the browser, such as /usr/bin/chromium", (t) => t.skip(why));
      return;
    }
    if (!isWhole && !isSampled) {
      test("skipped: npm test -- --whole runs it", (t) => t.skip());
      return;
    }
    if (!isWhole) console.log(`SVC_BROWSER_SEED=${seed} looks at the states in the same ways again`);
    let stack: Stack | undefined;
    let fixture: Fixture | undefined;
    let catalogue: CatalogueServer | undefined;
    const ends: (() => Promise<void>)[] = [];
    before(async () => {
      // A browser that is started beside a stack that fails would keep this process.
      catalogue = await openCatalogueServer();
      stack = await startStack([...stackArgs, ...catalogue.settings.flatMap((one) => ["--set", one])]);
      const browser = await startBrowser(binary);
      const [owner, player] = [await createPerson(browser), await createPerson(browser)];
      const atEnd = (end: () => Promise<void>) => void ends.push(end);
      fixture = createFixture({ stack, browser, owner, player, catalogue, atEnd }, isWhole);
    });
    after(async () => {
      const ended = await Promise.allSettled(ends.map((end) => end()));
      await fixture?.browser.close();
      await stack?.stop();
      await catalogue?.close();
      for (const one of ended) if (one.status === "rejected") throw one.reason;
    });
    afterEach(async (context) => {
      if (!fixture) return;
      if (!("passed" in context && context.passed))
        for (const page of await fixture.browser.pages()) console.log(await describePage(page));
      assertNoFaults(fixture.owner);
      assertNoFaults(fixture.player);
    });
    add(() => fixture ?? assert.fail("the stack has not started"));
  });
}

/** Where somebody is, and what the page says there. */
async function describePage(page: Page): Promise<string> {
  // biome-ignore lint/performance/useDomNodeTextContent: only what is shown counts
  const shown = await page.evaluate(() => document.body.innerText).catch(String);
  return `${page.url()} shows:\n${shown.slice(0, 2_000)}\n`;
}

type Parts = Pick<Fixture, "stack" | "browser" | "owner" | "player" | "catalogue" | "atEnd">;

function createFixture(parts: Parts, isWhole: boolean): Fixture {
  const { stack } = parts;
  const playerUuid = randomUUID();
  return {
    ...parts,
    addressOf: (host, path) => {
      const file = stack.file();
      return `http://${file[host]}:${new URL(file.external_base_url).port}${path}`;
    },
    inspect: async (person, name, how) =>
      assert.deepEqual(await inspect(person, name, { isWhole, ...how }), []),
    signInByGame: async (person, look) => {
      const code = await codeOf({ stack }, playerUuid);
      await person.press("button", en.signIn.game);
      await look?.();
      await person.fill(en.signIn.gameCode, `${code.slice(0, 4).toLowerCase()} - ${code.slice(4)}`);
      await person.page.keyboard.press("Enter");
      await person.isAt("/");
    },
  };
}

/** Signs the first owner in by the setup link, with a passkey, and the player by the game. */
export async function signIn({ stack, owner, player, addressOf, signInByGame }: Fixture): Promise<void> {
  await owner.open(stack.file().setup_url);
  await owner.press("button", en.setup.redeem);
  await owner.press("button", en.setup.passkeyAdd);
  await owner.press("link", en.setup.goOn);
  await owner.isAt("/");
  await player.open(addressOf("panel_host", "/login"));
  await signInByGame(player);
}

/** The code that the login gate shows to a player in the game. */
export async function codeOf({ stack }: Pick<Fixture, "stack">, mc_uuid: string): Promise<string> {
  const minted = await stack.internal("POST", "/api/v1/internal/account/link/code", { mc_uuid });
  return (minted.body as { code: string }).code;
}

/** Signs in with a code from the game, which proves nothing. */
export async function bindPlayer(fixture: Fixture, person: Person, mc_uuid: string): Promise<void> {
  const bound = await person.request("POST", "/auth/bind", { code: await codeOf(fixture, mc_uuid) });
  assert.equal(bound.status, 200, JSON.stringify(bound.body));
}

/** Somebody else who came from the game, at a page of the panel. */
export async function playerAt(
  fixture: Fixture,
  path: string,
  mc_uuid: string = randomUUID(),
): Promise<Person> {
  const { browser, addressOf } = fixture;
  const person = await createPerson(browser);
  await person.open(addressOf("panel_host", "/login"));
  await bindPlayer(fixture, person, mc_uuid);
  await person.open(addressOf("panel_host", path));
  return person;
}
