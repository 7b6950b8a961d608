// Somebody in front of Debian's Chromium: a browser context of their own, elements by role and name, a passkey, and an
// eye on everything that a page must not do.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import axe from "axe-core";
import puppeteer, { type Browser, type CDPSession, type Page } from "puppeteer-core";

const pictures = process.env["SVC_BROWSER_PICTURES"] ?? resolve(import.meta.dirname, "../../.cache/pictures");
const waitMs = 20_000;
const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** Starts the browser; `--no-sandbox` only where the sandbox cannot work. */
export function startBrowser(binary: string): Promise<Browser> {
  const isRoot = process.getuid?.() === 0;
  return puppeteer.launch({
    executablePath: binary,
    pipe: true,
    args: [...(isRoot ? ["--no-sandbox"] : []), "--disable-dev-shm-usage", "--no-proxy-server"],
  });
}

export type Role = "button" | "textbox" | "link" | "combobox" | "searchbox";

export type Person = {
  page: Page;
  open: (address: string) => Promise<void>;
  /** Clicks what has this role and name, once it is there and enabled. */
  press: (role: Role, name: string) => Promise<void>;
  fill: (name: string, text: string) => Promise<void>;
  /** Waits until the page shows a text. */
  sees: (text: string | RegExp) => Promise<void>;
  /** Waits until the address has this path. */
  isAt: (path: string) => Promise<void>;
  /** Serious findings of axe on what is shown, in both themes, and a picture of each. */
  inspect: (name: string) => Promise<string[]>;
  /** What went wrong since the last question: violations of the policy and errors of scripts. */
  faults: () => string[];
  leave: () => Promise<void>;
};

/** A person with a device whose passkeys confirm themselves. */
export async function createPerson(browser: Browser): Promise<Person> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.setDefaultTimeout(waitMs);
  await page.setViewport({ width: 1_280, height: 800 });
  const session = await page.createCDPSession();
  await plugIn(session);
  let found: string[] = [];
  await watch(page, (fault) => found.push(fault));
  const locate = (role: Role, name: string) =>
    page.locator(`::-p-aria([name=${JSON.stringify(name)}][role="${role}"])`);
  return {
    page,
    open: async (address) => {
      await page.goto(address);
      await settled(page);
    },
    press: (role, name) => locate(role, name).click(),
    fill: (name, text) => {
      const fields = ["textbox", "searchbox", "combobox"].map(
        (role) => `::-p-aria([name=${JSON.stringify(name)}][role="${role}"])`,
      );
      return page.locator(fields.join(", ")).fill(text);
    },
    sees: async (text) => {
      const pattern = typeof text === "string" ? text : text.source;
      await page.waitForFunction(
        (wanted: string, isPattern: boolean) => {
          // biome-ignore lint/performance/useDomNodeTextContent: only what is shown counts
          const shown = document.body.innerText;
          return isPattern ? new RegExp(wanted).test(shown) : shown.includes(wanted);
        },
        {},
        pattern,
        typeof text !== "string",
      );
    },
    isAt: async (path) => {
      await page.waitForFunction((wanted: string) => location.pathname === wanted, {}, path);
      await settled(page);
    },
    inspect: (name) => inspect(page, name),
    faults: () => {
      const all = found;
      found = [];
      return all;
    },
    leave: () => context.close(),
  };
}

async function plugIn(session: CDPSession): Promise<void> {
  await session.send("WebAuthn.enable");
  await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

async function watch(page: Page, note: (fault: string) => void): Promise<void> {
  page.on("pageerror", (error) => note(`script: ${error instanceof Error ? error.message : String(error)}`));
  await page.exposeFunction("noteViolation", (text: string) => note(`policy: ${text}`));
  await page.evaluateOnNewDocument(() => {
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sample }) => {
      const { noteViolation } = window as unknown as { noteViolation: (text: string) => void };
      noteViolation(`${violatedDirective} ${blockedURI} ${sample}`);
    });
  });
}

/** The page has its first data. */
async function settled(page: Page): Promise<void> {
  await page.waitForFunction(
    () => document.querySelector("h1") !== null && document.querySelector("main")?.ariaBusy !== "true",
  );
}

const themes = ["light", "dark"] as const;

async function inspect(page: Page, name: string): Promise<string[]> {
  mkdirSync(pictures, { recursive: true });
  const findings: string[] = [];
  for (const theme of themes) {
    await page.emulateMediaFeatures([
      { name: "prefers-color-scheme", value: theme },
      { name: "prefers-reduced-motion", value: "reduce" },
    ]);
    const found = await seriousFindings(page);
    findings.push(...found.map((finding) => `${name} ${theme}: ${finding}`));
    await page.screenshot({ path: join(pictures, `${name}-${theme}.png`) });
    await page.setViewport({ width: 360, height: 740 });
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (overflow > 0) findings.push(`${name} ${theme}: wider than 360 px by ${overflow}`);
    await page.screenshot({ path: join(pictures, `${name}-${theme}-360.png`) });
    await page.setViewport({ width: 1_280, height: 800 });
  }
  return findings;
}

/** Findings of axe that are serious or critical, as the page is. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(async (values: string[]) => {
    const { axe: tool } = window as unknown as { axe: typeof axe };
    return tool.run(document, { runOnly: { type: "tag", values }, resultTypes: ["violations"] });
  }, rules);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
}

/** Fails with what went wrong on the pages of a person. */
export function assertNoFaults(person: Person): void {
  assert.deepEqual(person.faults(), []);
}
