// What a log says of the game's clock (docs/reference/crashes.md#ticks). Pure; the lines are what a tenant's server says.

import { textOf } from "./explain.ts";

type TickSigns = {
  /** The most that a warning says the game was behind. */
  behindMs: number | undefined;
  /** A watchdog spoke of a tick that did not end. */
  hasWatchdog: boolean;
};

const behind = /^Can't keep up! [^\n]{1,100} Running (?<ms>\d{1,9})ms (?:or \d{1,9} ticks )?behind/;

/** The thread of the game's and of Paper's watchdog, where lines name their thread. */
const watchdogThread = /^\[[^\]]{1,30}\] \[(?:Server Watchdog|(?:Paper|Spigot) Watchdog Thread)\//;

/** What Paper's watchdog prints while a tick does not end, also where lines do not name their thread. */
const watchdogTexts: readonly RegExp[] = [
  /^The server has not responded for \d{1,9} seconds! Creating thread dump/,
  /^The server has stopped responding! This is \(probably\) not a (?:Paper|Spigot) bug/,
  /^A single server tick took [\d.,]{1,12} seconds/,
];

/** The rest of a dump of threads: its rules and frames say nothing of whether the game goes on. */
const dumpTexts: readonly RegExp[] = [
  /^-{20,}$/,
  /^--- DO NOT REPORT THIS TO /,
  /^Server thread dump \(/,
  /^Current Thread: /,
  /^PID: \d{1,9} \| Suspended: /,
  /^Stack:$/,
  /^[\w$.@/+~-]{1,300}\([\w$.: ]{1,120}\)$/,
];

export function tickSignsOf(lines: readonly string[]): TickSigns {
  let behindMs: number | undefined;
  let hasWatchdog = false;
  for (const line of lines) {
    const text = textOf(line).trim();
    const ms = Number(behind.exec(text)?.groups?.["ms"] ?? Number.NaN);
    if (!Number.isNaN(ms)) behindMs = Math.max(behindMs ?? 0, ms);
    hasWatchdog ||= watchdogThread.test(line) || watchdogTexts.some((pattern) => pattern.test(text));
  }
  return { behindMs: behindMs === undefined ? undefined : Math.min(behindMs, 2 ** 31 - 1), hasWatchdog };
}

/** Whether a line is of a watchdog: it says that a tick does not end, so it is no sign of life. */
export function isOfWatchdog(line: string): boolean {
  if (watchdogThread.test(line)) return true;
  const text = textOf(line).trim();
  return [...watchdogTexts, ...dumpTexts].some((pattern) => pattern.test(text));
}
