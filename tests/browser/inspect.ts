// What a person with good eyes, with other eyes or with a phone finds on a page. `npm test` looks at each state in one way
// of four, theme and width, which turn with SVC_BROWSER_SEED; `npm test -- --whole` in all of them. Pictures are kept in
// the whole run and where SVC_BROWSER_PICTURES names a folder.

import { randomInt } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import axe from "axe-core";
import type { Page } from "puppeteer-core";
import type { Person } from "./person.ts";

const env = process.env;
const folder = env["SVC_BROWSER_PICTURES"] ?? resolve(import.meta.dirname, "../../.cache/pictures");
const isPhotographed = env["SVC_BROWSER_PICTURES"] !== undefined;
const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
const desk = { width: 1_440, height: 900 } as const;
const phone = { width: 360, height: 740 } as const;
const themes = ["light", "dark"] as const;
const sizes = [desk, phone] as const;
type Look = { theme: (typeof themes)[number]; size: (typeof sizes)[number] };
const looks: readonly Look[] = themes.flatMap((theme) => sizes.map((size) => ({ theme, size })));

/** Chooses in which way each state is looked at; the same one again chooses the same ways. */
export const seed = Number(env["SVC_BROWSER_SEED"] ?? randomInt(looks.length));

let inspections = 0;

/** Pages where a state must be told at a glance. */
const listsOfServers = ["servers", "fleet"];

export type How = {
  /** In all ways. */
  isWhole: boolean;
  /** False where the same state was looked at in the other language. */
  isInBothLanguages?: boolean;
};

/** Serious findings of axe, and what is wider than a phone; keeps pictures under this name. */
export async function inspect(person: Person, name: string, how: How): Promise<string[]> {
  const { page } = person;
  const { isWhole, isInBothLanguages = true } = how;
  const chosen = looks[(seed + inspections++) % looks.length];
  const findings: string[] = [];
  for (const look of looks) {
    const isChecked = isWhole || look === chosen;
    if (!isChecked && !isPhotographed) continue;
    const { theme, size } = look;
    const about = `${name}-${theme}${size === phone ? "-360" : ""}`;
    await setTheme(page, theme);
    if (size === phone) await page.setViewport(phone);
    if (isChecked) {
      const found = [...(await seriousFindings(page)), ...(await colourFindings(page))];
      findings.push(...found.map((finding) => `${about}: ${finding}`));
    }
    if (isWhole || isPhotographed) await takePicture(page, about);
    if (size === desk) await page.setViewport(phone);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (overflow > 0) findings.push(`${about}: wider than 360 px by ${overflow}`);
    await page.setViewport(desk);
  }
  if (isWhole && listsOfServers.includes(name)) await takeInOtherEyes(person, name);
  if (isWhole && isInBothLanguages) findings.push(...(await findingsInOtherLanguage(page, name)));
  return findings;
}

/** The same state in the other language, with what is open and typed: the page changes its words where it stands. */
async function findingsInOtherLanguage(page: Page, name: string): Promise<string[]> {
  const own = await page.evaluate(() => document.documentElement.lang);
  const focused = await page.evaluateHandle(() => document.activeElement);
  if (!(await speak(page, own === "en" ? "zh-CN" : "en"))) return [];
  const findings: string[] = [];
  for (const theme of themes) {
    await setTheme(page, theme);
    const found = await seriousFindings(page);
    findings.push(...found.map((finding) => `${name}-${theme} in the other language: ${finding}`));
  }
  await takePicture(page, `${name}-other`);
  await page.setViewport(phone);
  await takePicture(page, `${name}-other-360`);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (overflow > 0) findings.push(`${name} in the other language: wider than 360 px by ${overflow}`);
  await page.setViewport(desk);
  await speak(page, own);
  await setTheme(page, "light");
  // What was in the middle of typing goes on.
  await page.evaluate((element) => element instanceof HTMLElement && element.focus(), focused);
  return findings;
}

/** Chooses a language where the menu has it, also behind a dialog; false where the page has no choice. */
async function speak(page: Page, language: string): Promise<boolean> {
  const isThere = await page.evaluate((wanted: string) => {
    const list = [...document.querySelectorAll("select")].find(({ options }) =>
      [...options].some(({ value }) => value === wanted),
    );
    if (!list) return false;
    list.value = wanted;
    list.dispatchEvent(new Event("change", { bubbles: true }));
    return true;
  }, language);
  if (isThere)
    await page.waitForFunction((wanted: string) => document.documentElement.lang === wanted, {}, language);
  return isThere;
}

async function setTheme(page: Page, theme: Look["theme"]): Promise<void> {
  await page.emulateMediaFeatures([
    { name: "prefers-color-scheme", value: theme },
    { name: "prefers-reduced-motion", value: "reduce" },
  ]);
}

async function takePicture(page: Page, name: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** As somebody sees it who does not tell green from red, and who sees no colour at all. */
async function takeInOtherEyes({ page, session }: Person, name: string): Promise<void> {
  for (const type of ["deuteranopia", "achromatopsia"] as const) {
    await session.send("Emulation.setEmulatedVisionDeficiency", { type });
    await takePicture(page, `${name}-${type}`);
  }
  await session.send("Emulation.setEmulatedVisionDeficiency", { type: "none" });
}

/** Findings of axe that are serious or critical, as the page is. */
export async function seriousFindings(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(async (values: string[]) => {
    const { axe: tool } = window as unknown as { axe: typeof axe };
    const found = await tool.run(document, { runOnly: { type: "tag", values }, resultTypes: ["violations"] });
    // Below a bar axe measures a button by those of the bar alone. Nobody hits it there: it is scrolled to first.
    const isBelowSomething = ({ target }: axe.NodeResult) => {
      const element = document.querySelector(String(target[0]));
      if (!element) return false;
      const { left, top, width, height } = element.getBoundingClientRect();
      const hit = document.elementFromPoint(left + width / 2, top + height / 2);
      return hit !== null && !element.contains(hit) && !hit.contains(element);
    };
    const violations = found.violations
      .map((one) =>
        one.id === "target-size"
          ? { ...one, nodes: one.nodes.filter((node) => !isBelowSomething(node)) }
          : one,
      )
      .filter(({ nodes }) => nodes.length > 0);
    return { violations };
  }, rules);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
}

/** States that somebody who sees no colour could not tell: each has a shape that no other one has, and a word. */
export async function colourFindings(page: Page): Promise<string[]> {
  const shown = await page.$$eval("[data-look]", (all) =>
    all.map((element) => {
      const sign = element.querySelector("[aria-hidden=true]")?.textContent?.trim() ?? "";
      const word = element.textContent?.replace(sign, "").trim() ?? "";
      return { look: element.getAttribute("data-look"), sign, word };
    }),
  );
  const lookOf = new Map<string, string | null>();
  return shown.flatMap(({ look, sign, word }) => {
    const other = lookOf.get(sign) ?? look;
    lookOf.set(sign, other);
    if (sign !== "" && word !== "" && other === look) return [];
    return [`colour alone: ${look} has the sign "${sign}" (of ${other}) and the word "${word}"`];
  });
}
