// A page of the panel in Chromium, as a person on a slow machine and a slow line has it, and what it takes there.

import { existsSync } from "node:fs";
import type { Browser, CDPSession, Page } from "puppeteer-core";
import { startBrowser } from "../../browser/browser.ts";
import type { BenchStack } from "../harness/stack.ts";

const slowCpu = 4;
/** 1.6 Mbit/s down, 750 kbit/s up, 150 ms there and back. */
const slowLine = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };
const waitMs = 60_000;

/** The browser of SVC_BROWSER_LANE, or Debian's. */
export function openBrowser(): Promise<Browser> {
  const binary = process.env["SVC_BROWSER_LANE"] ?? "/usr/bin/chromium";
  if (!existsSync(binary)) throw new Error(`there is no ${binary}; SVC_BROWSER_LANE names the browser`);
  return startBrowser(binary);
}

export type PanelPage = {
  page: Page;
  session: CDPSession;
  addressOf: (path: string) => string;
  /** Bytes of the heap after a collection. */
  heapBytes: () => Promise<number>;
  close: () => Promise<void>;
};

/** A fresh page at the operator console, signed in as the owner; `isSlow` slows machine and line down. */
export async function openPage(
  browser: Browser,
  stack: BenchStack,
  options: { isSignedIn: boolean; isSlow: boolean },
): Promise<PanelPage> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.setDefaultTimeout(waitMs);
  await page.setViewport({ width: 1_280, height: 800 });
  const session = await page.createCDPSession();
  const { admin_host, external_base_url } = stack.file();
  const origin = `http://${admin_host}:${new URL(external_base_url).port}`;
  if (options.isSignedIn) {
    const [name = "", ...value] = (stack.owner.headers["cookie"] ?? "").split("=");
    await context.setCookie({ name, value: value.join("="), domain: admin_host, path: "/", httpOnly: true });
  }
  if (options.isSlow) {
    await session.send("Network.enable");
    await session.send("Network.emulateNetworkConditions", slowLine);
    await session.send("Emulation.setCPUThrottlingRate", { rate: slowCpu });
  }
  await page.evaluateOnNewDocument(watchTimes);
  return {
    page,
    session,
    addressOf: (path) => `${origin}${path}`,
    heapBytes: async () => {
      await session.send("HeapProfiler.collectGarbage");
      return (await session.send("Runtime.getHeapUsage")).usedSize;
    },
    close: () => context.close(),
  };
}

type Times = {
  /** Largest contentful paint, milliseconds after the navigation. */
  lcpMs: number;
  /** When sign-in was the page that its scripts have made, on the same clock. */
  answersMs: number;
  interactions: Interaction[];
};

/** From a hand to the next paint, and how much of it the page was busy with something else. */
type Interaction = { name: string; ms: number; delayMs: number };

/** Before the scripts of the page. Text, because the types of a page are not types of Node. */
const watchTimes = `
  const times = { lcpMs: 0, answersMs: 0, interactions: [] };
  window.times = times;
  new MutationObserver((_, observer) => {
    if (!document.querySelector("#root h1") || document.querySelector("#first-view")) return;
    observer.disconnect();
    times.answersMs = performance.now();
  }).observe(document, { childList: true, subtree: true });
  new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntries()) times.lcpMs = startTime;
  }).observe({ type: "largest-contentful-paint", buffered: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (entry.interactionId) times.interactions.push({
      name: entry.name + " on " + (entry.target?.tagName ?? "nothing").toLowerCase(),
      ms: entry.duration,
      delayMs: Math.round(entry.processingStart - entry.startTime),
    });
  }).observe({ type: "event", durationThreshold: 16, buffered: true });`;

/** What was slowest of them, and a note that says so. */
export function slowestOf(interactions: readonly Interaction[]): { ms: number; note: string } {
  const [slowest] = interactions.toSorted((a, b) => b.ms - a.ms);
  if (!slowest) return { ms: 0, note: "none seen" };
  const { name, ms, delayMs } = slowest;
  return {
    ms,
    note: `${interactions.length} seen; the slowest: ${name}, ${delayMs} ms before it was handled`,
  };
}

export async function timesOf(page: Page): Promise<Times> {
  return (await page.evaluate("window.times")) as Times;
}

/** Paints a second over a while. */
export async function framesPerSecond(page: Page, ms: number): Promise<number> {
  const counted = await page.evaluate(`new Promise((settle) => {
    const startedAt = performance.now();
    let frames = 0;
    const count = () => {
      frames++;
      const passed = performance.now() - startedAt;
      if (passed < ${ms}) requestAnimationFrame(count);
      else settle((frames * 1000) / passed);
    };
    requestAnimationFrame(count);
  })`);
  return counted as number;
}
