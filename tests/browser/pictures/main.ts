// `npm run pictures`: the pictures of docs/guide, of the panel of a real stack in a real browser. Run it after the panel
// has changed its looks, and look at what it made. With a folder (`npm run pictures -- /tmp/looks`) every page is taken in
// both themes, for a desk and for a phone, and docs/guide stays. SVC_BROWSER_LANE names the browser (/usr/bin/chromium
// unless set).

import { mkdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { en } from "../../../services/panel/src/words/en/index.ts";
import { startStack, withoutGame } from "../../flow/stack.ts";
import { startBrowser } from "../browser.ts";
import { createPerson, type Person } from "../person.ts";
import { makeContent, senderOf } from "./content.ts";
import { type Scene, shots } from "./shots.ts";

const [, , toJudge] = process.argv;
const folder = toJudge ?? resolve(import.meta.dirname, "../../../docs/guide/pictures");
const width = 1_200;
const height = 750;
/** Of the pages without a menu. */
const small = { width: 760, height: 600 };
const phone = { width: 390, height: 780 };
/** Enough for sharp text at the width of a page. */
const scale = 1.5;
const quality = 62;

const [stack, browser] = await Promise.all([
  // The charts of the overview have something to show when it is taken.
  startStack([...withoutGame, "--set", "lifecycle.history_sample=5s"]),
  startBrowser(process.env["SVC_BROWSER_LANE"] ?? "/usr/bin/chromium"),
]);
try {
  const [owner, lena] = [await createPerson(browser), await createPerson(browser)];
  await takePictures({ stack, owner, lena, open });
} finally {
  await browser.close();
  await stack.stop();
}

function open(person: Person, path: string): Promise<void> {
  const { panel_host, admin_host, external_base_url } = stack.file();
  const host = new URL(person.page.url()).hostname === admin_host ? admin_host : panel_host;
  return person.open(`http://${host}:${new URL(external_base_url).port}${path}`);
}

async function takePictures(fixture: Scene): Promise<void> {
  const { owner, lena } = fixture;
  mkdirSync(folder, { recursive: true });
  await owner.open(stack.file().setup_url);
  await owner.press("button", en.setup.redeem);
  await owner.sees(en.setup.wayIn);
  await take(owner, "setup", small);
  await owner.press("button", en.setup.passkeyAdd);
  await owner.sees(en.setup.done);
  const content = await makeContent(stack, senderOf(owner));
  await signIn(lena, content.lena.playerId);
  for (const { name, who, path, act, ...look } of shots) {
    const person = fixture[who];
    if (path !== undefined) await open(person, path);
    await act?.(person, fixture).catch((error: unknown) => {
      // The others are taken all the same; the picture shows why.
      console.error(`${name}: ${String(error)}`);
      process.exitCode = 1;
    });
    await take(person, name, look);
  }
  for (const { leave } of content.players) await leave();
}

/** With the code that the login gate shows to a player. */
async function signIn(lena: Person, mc_uuid: string): Promise<void> {
  const { panel_host, external_base_url } = stack.file();
  await lena.open(`http://${panel_host}:${new URL(external_base_url).port}/login`);
  await take(lena, "sign-in", small);
  const minted = await stack.internal("POST", "/api/v1/internal/account/link/code", { mc_uuid });
  await lena.press("button", en.signIn.game);
  await take(lena, "sign-in-game-code", small);
  await lena.fill(en.signIn.gameCode, (minted.body as { code: string }).code);
  await lena.page.keyboard.press("Enter");
  await lena.isAt("/");
}

type Look = { isDarkToo?: boolean; isPhoneToo?: boolean; width?: number; height?: number };

async function take(person: Person, name: string, look: Look = {}): Promise<void> {
  const desk = { width: look.width ?? width, height: look.height ?? height };
  const isAll = toJudge !== undefined;
  await shoot(person, name, { size: desk, theme: "light" });
  if (isAll || look.isDarkToo) await shoot(person, `${name}-dark`, { size: desk, theme: "dark" });
  if (isAll || look.isPhoneToo) await shoot(person, `${name}-phone`, { size: phone, theme: "light" });
  await person.page.setViewport({ ...desk, deviceScaleFactor: scale });
}

type Frame = { size: { width: number; height: number }; theme: "light" | "dark" };

async function shoot({ page }: Person, name: string, { size, theme }: Frame): Promise<void> {
  await page.emulateMediaFeatures([
    { name: "prefers-color-scheme", value: theme },
    { name: "prefers-reduced-motion", value: "reduce" },
  ]);
  await page.setViewport({ ...size, deviceScaleFactor: scale });
  const path = join(folder, `${name}.webp`) as `${string}.webp`;
  await page.screenshot({ path, type: "webp", quality });
  console.log(`${name}.webp ${Math.round(statSync(path).size / 1_024)} KiB`);
}
