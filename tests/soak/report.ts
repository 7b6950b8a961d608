// Which series may grow, and the report of a soak.

import type { Tally } from "./load.ts";
import type { Reading, Tolerance, Trend } from "./trend.ts";

export type Series = Map<string, Reading[]>;

type Kind = { of: RegExp; tolerance: Tolerance; unit: string };

const kinds: readonly Kind[] = [
  { of: /^memory /, tolerance: { least: 24, share: 0.2 }, unit: "MiB" },
  { of: /^heap /, tolerance: { least: 12, share: 0.3 }, unit: "MiB" },
  { of: /^(sockets|files|threads|handles) of /, tolerance: { least: 8, share: 0.2 }, unit: "" },
  { of: /^connections /, tolerance: { least: 8, share: 0.2 }, unit: "" },
  { of: /^MiB /, tolerance: { least: 64, share: 0.2 }, unit: "MiB" },
  { of: /./, tolerance: { least: 12, share: 0.1 }, unit: "" },
];

/** What grows on purpose, and what bounds it. */
const kept: readonly [RegExp, string][] = [
  [/^rows of identity\.audit/, "the audit log is kept for a year"],
  [/^rows of identity\.user/, "a deleted account keeps its row: the audit log names it"],
  [/^rows of \w+\.handled_requests/, "answers are kept for ten minutes, for callers that ask again"],
  [/^rows of lifecycle\.server_(history|phases)/, "history is kept for 30 days, coarser with age"],
  [/^rows of storage\.(world_jobs|world_backups|reaper_|file_)/, "what was done to worlds is kept"],
  [/^(files|MiB) in the data folder/, "logs, write-ahead logs and the files of streams"],
];

export const kindOf = (name: string): Kind =>
  kinds.find(({ of }) => of.test(name)) ?? { of: /./, tolerance: { least: 0, share: 0 }, unit: "" };

export const toleranceOf = (name: string): Tolerance => kindOf(name).tolerance;

const reasonOf = (name: string) => kept.find(([of]) => of.test(name))?.[1];

type Named = Trend & { name: string; kind: Kind };

/** The report as Markdown; passed when nothing grows but what is kept on purpose, and the load was served. */
export function report(
  trends: readonly Named[],
  tally: Tally,
  minutes: number,
): { text: string; isPassed: boolean } {
  const growing = trends.filter(({ name, isGrowing }) => isGrowing && reasonOf(name) === undefined);
  const expected = trends.filter(({ name, isGrowing }) => isGrowing && reasonOf(name) !== undefined);
  const failing = [...tally].filter(([, { done, failed }]) => done === 0 || failed > done / 100);
  const rows = (some: readonly Named[]) =>
    some
      .toSorted((a, b) => b.perHour - a.perHour)
      .map(
        ({ name, kind, first, last, perHour }) =>
          `| ${name} | ${round(first)} | ${round(last)} | ${round(perHour)} ${kind.unit} | ${reasonOf(name) ?? ""} |`,
      );
  const head = ["| What | after the warm-up | at the end | per hour | Why |", "|---|---|---|---|---|"];
  const memory = trends.filter(({ name }) => /^(memory|heap) /.test(name));
  const text = [
    `# Soak of ${minutes} minutes`,
    "",
    growing.length === 0 ? "Nothing grew that should not." : `**${growing.length} series grew.**`,
    ...(growing.length > 0 ? ["", ...head, ...rows(growing)] : []),
    ...(expected.length > 0 ? ["", "## Kept on purpose", "", ...head, ...rows(expected)] : []),
    "",
    "## Memory",
    "",
    ...head,
    ...rows(memory),
    "",
    "## Load",
    "",
    "| Act | done | failed | last problem |",
    "|---|---|---|---|",
    ...[...tally].map(
      ([name, { done, failed, lastProblem = "" }]) =>
        `| ${name} | ${done} | ${failed} | ${lastProblem.replaceAll(/[|\n]/g, " ")} |`,
    ),
    "",
  ].join("\n");
  return { text, isPassed: growing.length === 0 && failing.length === 0 };
}

const round = (value: number) => (Math.abs(value) < 10 ? value.toFixed(1) : value.toFixed(0));
