// Somebody in front of Debian's Chromium: a browser context of their own, elements by role and name, a passkey, and an
// eye on everything that a page must not do.

import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { patience } from "@svc/local-stack/testing";
import type {
  Browser,
  BrowserContext,
  CDPSession,
  ElementHandle,
  HTTPRequest,
  Page,
  Protocol,
} from "puppeteer-core";

import { watchAnswers } from "./answers.ts";

/** Longer than anything takes, unless a test waits for a whole server; later where the runner found the machine slow. */
const waitMs = 30_000 * patience;

export type Role =
  | "button"
  | "textbox"
  | "link"
  | "combobox"
  | "searchbox"
  | "menuitem"
  | "switch"
  | "checkbox"
  | "radio";

export type Reply = { status: number; body: Record<string, unknown> };

export type Person = {
  page: Page;
  session: CDPSession;
  open: (address: string) => Promise<void>;
  /** Clicks what has this role and name, once it is there and enabled. */
  press: (role: Role, name: string) => Promise<void>;
  /** Types a text in the place of what a field holds. */
  fill: (name: string, text: string) => Promise<void>;
  /** Sets a date or a time as the picker of the browser does; `field` is its name in the form. */
  pick: (field: string, value: string) => Promise<void>;
  /** Waits until the page shows a text. */
  sees: (text: string | RegExp) => Promise<void>;
  /** Comes back to the tab again and again until the page shows a text: it asks anew for what is a second old. */
  seesOnReturn: (text: string) => Promise<void>;
  /** Waits until the page does not show a text any more. */
  seesNo: (text: string) => Promise<void>;
  /** Waits until the address has this path. */
  isAt: (path: string) => Promise<void>;
  /** Calls the API as a script of the page would. */
  request: (method: string, path: string, body?: unknown) => Promise<Reply>;
  /** What went wrong since the last question: violations of the policy and errors of scripts. */
  faults: () => string[];
  /** Another tab of the same browser, with the same session. */
  openTab: () => Promise<Person>;
  authenticator: Authenticator;
  leave: () => Promise<void>;
};

type Authenticator = {
  /** Whether the person in front of it can be verified, as with a fingerprint. */
  setVerifies: (verifies: boolean) => Promise<void>;
  credentials: () => Promise<Protocol.WebAuthn.Credential[]>;
  /** Takes a passkey of another device, as one that is kept in sync. */
  add: (credential: Protocol.WebAuthn.Credential) => Promise<void>;
  /** Puts another device in its place, which knows no passkey, or one of another site. */
  replace: (rpId?: string) => Promise<void>;
};

/** A person with a device whose passkeys confirm themselves, straight at the gateway or behind a proxy. */
export async function createPerson(browser: Browser, proxyServer?: string): Promise<Person> {
  // Addresses of this machine pass by a proxy otherwise.
  const proxied = proxyServer !== undefined && { proxyServer, proxyBypassList: ["<-loopback>"] };
  return createTab(await browser.createBrowserContext({ ...proxied }));
}

async function createTab(context: BrowserContext): Promise<Person> {
  const page = await context.newPage();
  page.setDefaultTimeout(waitMs);
  await page.setViewport({ width: 1_440, height: 900 });
  const session = await page.createCDPSession();
  const authenticator = await plugIn(session);
  let found: string[] = [];
  let isLeaving = false;
  const note = (fault: string) => void found.push(fault);
  await watch(page, note, () => isLeaving);
  watchAnswers(page, note);
  return {
    page,
    session,
    authenticator,
    open: async (address) => {
      // Who types another address means it: a question about typed text is answered with yes.
      isLeaving = true;
      await page.goto(address).finally(() => {
        isLeaving = false;
      });
      await settled(page);
    },
    press: (role, name) => page.locator(selectorOf(role, name)).click(),
    fill: (name, text) => fill(page, name, text),
    pick: (field, value) => pick(page, field, value),
    sees: (text) => sees(page, text),
    seesOnReturn: (text) => whileReturning(page, () => sees(page, text)),
    seesNo: (text) => sees(page, text, false),
    isAt: async (path) => {
      await page.waitForFunction((wanted: string) => location.pathname === wanted, {}, path);
      await settled(page);
    },
    request: (method, path, body) => request(page, { method, path, body }),
    faults: () => {
      const all = found;
      found = [];
      return all;
    },
    openTab: () => createTab(context),
    leave: () => context.close(),
  };
}

/** What has a role and a name. */
export function selectorOf(role: Role, name: string): string {
  return `::-p-aria([name=${JSON.stringify(name)}][role="${role}"])`;
}

/** What an editor holds: it lies in a shadow tree, of which the text of the page says nothing. */
export async function textOfEditor({ page }: Person, name: string): Promise<string> {
  const editor = await page.locator(selectorOf("textbox", name)).waitHandle();
  // biome-ignore lint/performance/useDomNodeTextContent: lines are told apart only where they are shown
  return editor.evaluate((element) => (element as HTMLElement).innerText);
}

/** Writes a file of a world as somebody else would, past the page. */
export function writeFile(
  person: Person,
  at: { server: string; path: string },
  text: string,
): Promise<Reply> {
  const bytes = Buffer.from(text);
  const content_sha256 = createHash("sha256").update(bytes).digest("hex");
  const path = `/servers/${at.server}/file?path=${encodeURIComponent(at.path)}`;
  return person.request("PUT", path, { content: bytes.toString("base64"), content_sha256 });
}

async function fill(page: Page, name: string, text: string): Promise<void> {
  const roles = ["textbox", "searchbox", "combobox"] as const;
  const field = page.locator(roles.map((role) => selectorOf(role, name)).join(", "));
  const handle = (await field.waitHandle()) as ElementHandle;
  // The locator would clear the field without an event; a page that draws it meanwhile puts the old text back.
  const isText = await handle.evaluate((element) => {
    const isLine = element instanceof HTMLInputElement && element.selectionStart !== null;
    const isMail = element instanceof HTMLInputElement && element.type === "email";
    return isLine || isMail || element instanceof HTMLTextAreaElement;
  });
  if (!isText) return field.fill(text);
  await field.setTimeout(waitMs).click();
  await handle.evaluate((element) => (element as HTMLInputElement).select());
  if (text === "") await page.keyboard.press("Backspace");
  else await page.keyboard.sendCharacter(text);
}

async function pick(page: Page, name: string, text: string): Promise<void> {
  await page.locator(`input[name="${name}"]`).wait();
  await page.$eval(
    `input[name="${name}"]`,
    (field, value) => {
      // Past the setter by which React follows the field.
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(field, value);
      field.dispatchEvent(new Event("input", { bubbles: true }));
    },
    text,
  );
}

async function sees(page: Page, text: string | RegExp, isShown = true): Promise<void> {
  await page.waitForFunction(
    (wanted: string, isPattern: boolean, expected: boolean) => {
      // biome-ignore lint/performance/useDomNodeTextContent: only what is shown counts
      const shown = document.body.innerText;
      return (isPattern ? new RegExp(wanted).test(shown) : shown.includes(wanted)) === expected;
    },
    {},
    typeof text === "string" ? text : text.source,
    typeof text !== "string",
    isShown,
  );
}

/** Comes back to the tab four times a second while something is awaited. */
export async function whileReturning<Result>(page: Page, wait: () => Promise<Result>): Promise<Result> {
  const timer = await page.evaluate(() =>
    window.setInterval(() => window.dispatchEvent(new Event("visibilitychange")), 250),
  );
  try {
    return await wait();
  } finally {
    await page.evaluate((id) => window.clearInterval(id), timer);
  }
}

/** Answers some requests of a page by hand until the returned function is called. */
export async function intercept(
  page: Page,
  answer: (request: HTTPRequest) => boolean,
): Promise<() => Promise<void>> {
  const handle = (request: HTTPRequest) => {
    if (!answer(request)) void request.continue();
  };
  await page.setRequestInterception(true);
  page.on("request", handle);
  return async () => {
    page.off("request", handle);
    await page.setRequestInterception(false);
  };
}

function request(page: Page, asked: { method: string; path: string; body: unknown }): Promise<Reply> {
  return page.evaluate(async ({ method, path, body }) => {
    const hasBody = body !== undefined && body !== null;
    const answer = await fetch(`/api/v1${path}`, {
      method,
      headers: hasBody ? { "content-type": "application/json" } : {},
      ...(hasBody && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === "" ? {} : JSON.parse(text) };
  }, asked);
}

async function plugIn(session: CDPSession): Promise<Authenticator> {
  await session.send("WebAuthn.enable");
  let authenticatorId = await addDevice(session);
  return {
    setVerifies: (isUserVerified) =>
      session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified }),
    credentials: async () => (await session.send("WebAuthn.getCredentials", { authenticatorId })).credentials,
    add: async (credential) => {
      await session.send("WebAuthn.addCredential", { authenticatorId, credential });
    },
    replace: async (rpId) => {
      await session.send("WebAuthn.removeVirtualAuthenticator", { authenticatorId });
      authenticatorId = await addDevice(session);
      if (rpId === undefined) return;
      const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const credential = {
        credentialId: randomBytes(16).toString("base64"),
        isResidentCredential: true,
        rpId,
        privateKey: privateKey.export({ type: "pkcs8", format: "der" }).toString("base64"),
        userHandle: randomBytes(16).toString("base64"),
        signCount: 0,
      };
      await session.send("WebAuthn.addCredential", { authenticatorId, credential });
    },
  };
}

async function addDevice(session: CDPSession): Promise<string> {
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return authenticatorId;
}

async function watch(page: Page, note: (fault: string) => void, isLeaving: () => boolean): Promise<void> {
  // An open dialog blocks the page, and with it every test that follows.
  page.on("dialog", (dialog) => {
    if (page.listenerCount("dialog") > 1) return;
    if (!isLeaving()) note(`dialog: ${dialog.type()}`);
    dialog.accept().catch(() => undefined);
  });
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

/** Fails with what went wrong on the pages of a person. */
export function assertNoFaults(person: Person): void {
  assert.deepEqual(person.faults(), []);
}
