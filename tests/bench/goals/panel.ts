// PANEL: what somebody in front of the panel waits for, in Chromium on the shipped build and the stack of `svc up`.
// There is no anchor: the figures are held against the budgets of docs/reference/panel.md#budgets. Sign-in and the
// interactions are measured on a CPU four times slower and a line of 1.6 Mbit/s; sizes and counts of files are tests
// (tests/browser/figures.ts). The heap is that of the page after a collection.

import { appendFileSync } from "node:fs";
import { until } from "@svc/local-stack/testing";
import type { Browser } from "puppeteer-core";
import type { Bench, Goal } from "../harness/bench.ts";
import { growFleet, untilQuiet } from "../harness/fleet.ts";
import { pace } from "../harness/line-rate.ts";
import type { Row } from "../harness/report.ts";
import type { BenchStack } from "../harness/stack.ts";
import { median } from "../harness/statistics.ts";
import { consoleServer, startConsoleServer } from "../subjects/console-server.ts";
import {
  framesPerSecond,
  openBrowser,
  openPage,
  type PanelPage,
  slowestOf,
  timesOf,
} from "../subjects/panel-page.ts";

const megabyte = 1_000_000;
const manyServers = 10_000;
const linesPerSecond = 2_000;
/** Each finds another number of servers than the one before: the change of the number is what is waited for. */
const searches = ["0004", "00042", "0003", "00031", "bench"] as const;

const atMost = (goal: number, stretch?: number): NonNullable<Row["limit"]> => ({
  bound: "at most",
  of: "figure",
  goal,
  ...(stretch !== undefined && { stretch }),
});

async function signInPaint(bench: Bench, stack: BenchStack, browser: Browser): Promise<Row[]> {
  const painted: number[] = [];
  const answering: number[] = [];
  for (let round = 0; round < bench.options.rounds; round++) {
    const { page, addressOf, close } = await openPage(browser, stack, { isSignedIn: false, isSlow: true });
    await page.goto(addressOf("/login"));
    await page.waitForSelector("#root h1");
    await page.waitForNetworkIdle({ idleTime: 500 });
    const { lcpMs, answersMs } = await timesOf(page);
    painted.push(lcpMs);
    answering.push(answersMs);
    await close();
  }
  const shared = { goal: "PANEL", unit: "ms" } as const;
  return [
    {
      ...shared,
      what: "sign-in, largest paint, cold, slow",
      ours: median(painted),
      limit: atMost(2_500, 1_800),
    },
    { ...shared, what: "the same, what was typed and pressed is answered", ours: median(answering) },
  ];
}

/** From the input of a search to the frame that shows what it finds. */
const noteSearch = `{
  const shown = document.querySelector("main [role=status]");
  const field = document.querySelector("input[name=search]");
  field.focus();
  field.select();
  window.drawnMs = undefined;
  let typedAt = 0;
  field.addEventListener("input", () => { typedAt = performance.now(); }, { once: true });
  const observer = new MutationObserver(() => {
    observer.disconnect();
    requestAnimationFrame(() => { window.drawnMs = performance.now() - typedAt; });
  });
  observer.observe(shown, { childList: true, characterData: true, subtree: true });
}`;

/** Types one search after the other and answers how long each took to be painted. */
async function search({ page }: PanelPage): Promise<number[]> {
  const taken: number[] = [];
  for (const text of searches) {
    await page.evaluate(noteSearch);
    await page.keyboard.sendCharacter(text);
    const drawn = await page.waitForFunction("window.drawnMs");
    taken.push(Number(await drawn.jsonValue()));
  }
  return taken;
}

/** Milliseconds since the bytes of the list were there. */
const sinceBytes = `{
  const lists = performance.getEntriesByType("resource").filter(({ name }) => /\\/api\\/v1\\/(fleet|servers)/.test(name));
  performance.now() - Math.max(...lists.map(({ responseEnd }) => responseEnd));
}`;

async function bigFleet(bench: Bench, stack: BenchStack, browser: Browser): Promise<Row[]> {
  const count = bench.options.isQuick ? 500 : manyServers;
  await growFleet(stack, 0, count);
  // Else a page shares the processor with what passes over the new servers.
  await untilQuiet(["lifecycle", "gateway-external", "local-cluster"].map(stack.pidOf));
  const panel = await openPage(browser, stack, { isSignedIn: true, isSlow: false });
  const { page, addressOf, heapBytes } = panel;
  await page.goto(addressOf("/servers"));
  await page.waitForSelector("main [role=row] a");
  const rowsMs: number[] = [];
  for (let round = 0; round < bench.options.rounds; round++) {
    await page.goto(addressOf("/servers"));
    await page.waitForSelector("main [role=row] a");
    rowsMs.push(Number(await page.evaluate(sinceBytes)));
  }
  const filterMs = await search(panel);
  const heap = await heapBytes();
  await page.close();
  const note = `${count} servers`;
  const shared = { goal: "PANEL", note };
  return [
    {
      ...shared,
      what: "list of all servers, first rows after the bytes",
      unit: "ms",
      ours: median(rowsMs),
      limit: atMost(1_500, 500),
    },
    {
      ...shared,
      what: "list of all servers, a filter typed and painted",
      unit: "ms",
      ours: median(filterMs),
      limit: atMost(100, 50),
    },
    {
      ...shared,
      what: "list of all servers, heap",
      unit: "MB",
      ours: heap / megabyte,
      limit: atMost(60, 30),
    },
  ];
}

async function interactions(stack: BenchStack, browser: Browser): Promise<Row> {
  const panel = await openPage(browser, stack, { isSignedIn: true, isSlow: true });
  const { page, addressOf } = panel;
  await page.goto(addressOf("/servers"));
  await page.waitForSelector("main [role=row] a");
  for (const letter of "bench-00042") await page.keyboard.press(letter as "b");
  await page.focus("input[name=search]");
  for (const letter of "bench") await page.keyboard.press(letter as "b");
  await page.keyboard.down("Control");
  await page.keyboard.press("k");
  await page.keyboard.up("Control");
  await page.waitForSelector("[role=dialog] input[type=search]");
  await page.keyboard.press("Escape");
  const slowest = slowestOf((await timesOf(page)).interactions);
  await panel.close();
  const what = "slowest interaction of list and palette, slow";
  return {
    goal: "PANEL",
    what,
    unit: "ms",
    ours: slowest.ms,
    limit: atMost(200, 100),
    note: slowest.note,
  };
}

async function busyConsole(bench: Bench, stack: BenchStack, browser: Browser): Promise<Row[]> {
  const log = await startConsoleServer(stack);
  const panel = await openPage(browser, stack, { isSignedIn: true, isSlow: false });
  const { page, addressOf, heapBytes } = panel;
  const seconds = bench.options.isQuick ? 2 : 12;
  const flood = () =>
    pace({ names: [consoleServer], perSecond: linesPerSecond, seconds }, (_, line) =>
      appendFileSync(log, `[12:00:00 INFO]: ${line}\n`),
    );
  try {
    await page.goto(addressOf(`/servers/${consoleServer}`));
    await page.waitForSelector("[role=log] [data-index]");
    await flood();
    const before = await heapBytes();
    const [, frames] = await Promise.all([flood(), framesPerSecond(page, seconds * 900), type(panel)]);
    const after = await heapBytes();
    const typed = slowestOf((await timesOf(page)).interactions);
    return [
      {
        goal: "PANEL",
        what: `console of ${linesPerSecond} lines/s, frames`,
        unit: "1/s",
        ours: frames,
        limit: { bound: "at least", of: "figure", goal: 20, stretch: 30 },
      },
      {
        goal: "PANEL",
        what: "the same, slowest key typed",
        unit: "ms",
        ours: typed.ms,
        limit: atMost(200, 100),
        note: typed.note,
      },
      {
        goal: "PANEL",
        what: "the same, heap full against heap later",
        unit: "MB",
        ours: after / megabyte,
        anchor: before / megabyte,
        anchorName: "20,000 lines",
        limit: { bound: "at most", of: "ratio", goal: 1.1 },
      },
    ];
  } finally {
    await panel.close();
    await stack.external("POST", `/api/v1/servers/${consoleServer}/stop`);
  }
}

/** Presses a link and notes the time until the frame that shows what it leads to. */
const notePress = (link: string, wanted: string) => `{
  const pressedAt = performance.now();
  window.shownMs = undefined;
  new MutationObserver((_, observer) => {
    if (!document.querySelector(${JSON.stringify(wanted)})) return;
    observer.disconnect();
    requestAnimationFrame(() => { window.shownMs = performance.now() - pressedAt; });
  }).observe(document, { childList: true, subtree: true });
  document.querySelector(${JSON.stringify(link)}).click();
}`;

/** From the press of a link to a folder that was never read to what is in it: a Job each time (docs/adr/0021-a-listing-is-a-job.md). */
async function folders(bench: Bench, stack: BenchStack, browser: Browser): Promise<Row> {
  const server = `/api/v1/servers/${consoleServer}`;
  const isAsleep = async () =>
    ((await stack.external("GET", `${server}/status`)).body as { phase?: string }).phase === "Stopped";
  await until(isAsleep, 60_000, `${consoleServer} to be asleep`);
  const names = Array.from({ length: Math.max(9, bench.options.rounds) }, (_, at) => `folder-${at}`);
  for (const path of names.flatMap((name) => [name, `${name}/inner`]))
    await stack.external("POST", `${server}/files/mkdir?path=${encodeURIComponent(path)}`);
  const { page, addressOf, close } = await openPage(browser, stack, { isSignedIn: true, isSlow: false });
  await page.goto(addressOf(`/servers/${consoleServer}/files`));
  const taken: number[] = [];
  for (const name of names) {
    const link = `main a[href$="path=${name}"]`;
    await page.waitForSelector(link);
    await page.evaluate(notePress(link, `main a[href$="path=${name}%2Finner"]`));
    const shown = await page.waitForFunction("window.shownMs");
    taken.push(Number(await shown.jsonValue()));
    await page.goBack();
  }
  await close();
  const [fastest, slowest] = [Math.min(...taken), Math.max(...taken)].map(Math.round);
  return {
    goal: "PANEL",
    what: "a folder of a world, from the press to what is in it",
    unit: "ms",
    ours: median(taken),
    limit: atMost(300),
    note: `${taken.length} folders, ${fastest} to ${slowest} ms`,
  };
}

/** Types in the field for commands while the lines come. */
async function type({ page }: PanelPage): Promise<void> {
  await page.focus("form input[enterkeyhint=send]");
  for (const letter of "say hello to everybody") {
    await page.keyboard.press(letter as "s");
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

export const panel: Goal = {
  name: "PANEL",
  // A browser that closes does not wait for its renderers, so the kernel adds what they used to nobody.
  startsUnknown: true,
  title: "the panel in a browser",
  run: async (bench) => {
    const stack = await bench.stack();
    const browser = await openBrowser();
    try {
      return [
        ...(await signInPaint(bench, stack, browser)),
        ...(await bigFleet(bench, stack, browser)),
        await interactions(stack, browser),
        ...(await busyConsole(bench, stack, browser)),
        await folders(bench, stack, browser),
      ];
    } finally {
      await browser.close();
    }
  },
};
