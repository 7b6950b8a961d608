// What a person with good eyes, with other eyes or with a phone finds on a page. `npm test` looks at each state in one
// theme, every second one in the other; `npm test -- --whole` in both.

import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import axe from "axe-core";
import type { Page } from "puppeteer-core";
import type { Person } from "./person.ts";

const env = process.env;
const folder = env["SVC_BROWSER_PICTURES"] ?? resolve(import.meta.dirname, "../../.cache/pictures");
/** On CI pictures are part of the whole run; elsewhere somebody wants to look at them. */
const isWatched = env["SVC_BROWSER_PICTURES"] !== undefined || env["CI"] === undefined;
const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
const themes = ["light", "dark"] as const;
const desk = { width: 1_440, height: 900 } as const;
const phone = { width: 360, height: 740 } as const;

let inspections = 0;

/** Serious findings of axe, and what is wider than a phone; keeps pictures under this name. */
export async function inspect(person: Person, name: string, isWhole: boolean): Promise<string[]> {
  const { page } = person;
  const take = isWhole || isWatched ? takePicture : async () => undefined;
  const findings: string[] = [];
  const turn = inspections++;
  for (const [at, theme] of themes.entries()) {
    const isChecked = isWhole || turn % themes.length === at;
    if (!isChecked && !isWatched) continue;
    await page.emulateMediaFeatures([
      { name: "prefers-color-scheme", value: theme },
      { name: "prefers-reduced-motion", value: "reduce" },
    ]);
    if (isChecked)
      findings.push(...(await seriousFindings(page)).map((finding) => `${name} ${theme}: ${finding}`));
    await take(page, `${name}-${theme}`);
    await page.setViewport(phone);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (overflow > 0) findings.push(`${name} ${theme}: wider than 360 px by ${overflow}`);
    await take(page, `${name}-${theme}-360`);
    await page.setViewport(desk);
  }
  if (isWhole) await takeInOtherEyes(person, name);
  return findings;
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
    return tool.run(document, { runOnly: { type: "tag", values }, resultTypes: ["violations"] });
  }, rules);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
}
