// The report of a run as Markdown.

import { quantile } from "../bench/harness/statistics.ts";
import type { Followed, Kind } from "./follow.ts";
import type { Stores, Use } from "./measure.ts";
import type { Result } from "./simulate.ts";

const table = (head: readonly string[], rows: readonly (readonly string[])[]) => [
  `| ${head.join(" | ")} |`,
  `|${head.map(() => "---").join("|")}|`,
  ...rows.map((row) => `| ${row.join(" | ")} |`),
];

function figure(value: number): string {
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function report(result: Result, about: string): string {
  const { plan, growth } = result;
  return [
    `# ${plan.servers} servers`,
    "",
    about,
    "",
    `Made in ${figure(growth.createdS)} s, all in the proxy's list after ${figure(growth.listedS)} s. ` +
      `View complete ${figure(result.leaderAgainS)} s after lifecycle was killed. ` +
      `A scrape of lifecycle: ${figure(result.scrapeOfLifecycle.ms)} ms, ${figure(result.scrapeOfLifecycle.bytes / 1e6)} MB.`,
    "",
    "## Processes",
    "",
    ...processes(result),
    ...wave(result),
    ...work(result),
    "",
    "## Stores",
    "",
    ...stores(result),
    "",
    "## Problems",
    "",
    ...problems(result),
    "",
  ].join("\n");
}

function processes({ plan, empty, rest, wave: woken, work: worked }: Result): string[] {
  const thousands = plan.servers / 1_000;
  const named = (uses: readonly Use[] | undefined, name: string) => uses?.find((one) => one.name === name);
  const cell = (use: Use | undefined, field: "cores" | "residentMb" | "peakMb" | "stallMs") =>
    use ? figure(use[field]) : "";
  return table(
    [
      ...["process", "MB, no servers", "MB at rest", "MB per 1,000", "cores at rest"],
      ...["cores, all waking", "cores at work", "MB, most", "longest stall at work, ms", "restarts"],
    ],
    rest.map((one) => {
      const before = named(empty, one.name);
      const [waking, busy] = [named(woken?.use, one.name), named(worked?.use, one.name)];
      const most = Math.max(one.peakMb, waking?.peakMb ?? 0, busy?.peakMb ?? 0);
      return [
        ...[one.name, cell(before, "residentMb"), cell(one, "residentMb")],
        figure((one.residentMb - (before?.residentMb ?? 0)) / thousands),
        ...[cell(one, "cores"), cell(waking, "cores"), cell(busy, "cores"), figure(most)],
        ...[cell(busy, "stallMs"), String((waking?.restarts ?? 0) + (busy?.restarts ?? 0))],
      ];
    }),
  );
}

function lags(followed: readonly Followed[]): string[] {
  const kinds: Kind[] = ["wake", "stop"];
  const row = (kind: Kind, what: string, value: (one: Followed) => number) => {
    const sorted = Float64Array.from(followed.filter((one) => one.kind === kind).map(value)).sort();
    if (sorted.length === 0) return [];
    const most = sorted[sorted.length - 1] ?? 0;
    return [
      [
        what,
        String(sorted.length),
        figure(quantile(sorted, 0.5)),
        figure(quantile(sorted, 0.99)),
        figure(most),
      ],
    ];
  };
  return table(
    ["from the request", "seen", "p50, ms", "p99, ms", "longest, ms"],
    kinds.flatMap((kind) => [
      ...row(kind, `${kind}: accepted`, ({ acceptedMs }) => acceptedMs),
      ...row(kind, `${kind}: the set asks for ${kind === "wake" ? "its pod" : "none"}`, ({ setMs }) => setMs),
      ...row(kind, `${kind}: ${kind === "wake" ? "Running" : "Stopped"}`, ({ phaseMs }) => phaseMs),
    ]),
  );
}

function wave({ plan, wave: woken }: Result): string[] {
  if (!woken) return [];
  return ["", `## ${plan.awake} wakes at once: ${figure(woken.seconds)} s`, "", ...lags(woken.followed)];
}

function work({ plan, work: worked }: Result): string[] {
  if (!worked) return [];
  const { seen, seconds, lists, counts } = worked;
  const delays = delaysOf(worked.followed, seen.arrivals);
  return [
    "",
    `## ${seconds} s of work: ${plan.changesPerSecond} changes of phase and ${figure(counts / seconds)} counts of players a second`,
    "",
    ...lags(worked.followed),
    "",
    `${seen.open} event streams: ${figure(seen.messages / seconds)} messages and ${figure(seen.bytes / seconds / 1_000)} kB a second, ` +
      `${seen.resets} resets, ${seen.pauses} pauses, ${seen.closed} closed. ` +
      `A new phase is told an operator after ${figure(quantile(delays, 0.5))} ms (p99 ${figure(quantile(delays, 0.99))} ms).`,
    "",
    ...table(
      ["list", "asked", "unchanged", "failed", "p50, ms", "p99, ms", "kB"],
      lists.map((one) => [
        ...[one.what, String(one.asked), String(one.unchanged), String(one.failed)],
        ...[figure(one.p50Ms), figure(one.p99Ms), figure(one.bytes / 1_000)],
      ]),
    ),
  ];
}

/** From a phase in the cluster until the first viewer was told of it, or of an earlier change at the same moment. */
function delaysOf(followed: readonly Followed[], arrivals: readonly [string, number][]): Float64Array {
  const times = new Map<string, number[]>();
  for (const [server, at] of arrivals) times.set(server, [...(times.get(server) ?? []), at]);
  const delays = followed.flatMap(({ name, at }) => {
    const told = times.get(name)?.find((one) => one >= at);
    return told === undefined ? [] : [told - at];
  });
  return Float64Array.from(delays).sort();
}

function stores({ storesAtRest, work: worked }: Result): string[] {
  const perSecond = (read: (stores: Stores) => number) =>
    worked ? figure((read(worked.after) - read(worked.before)) / worked.seconds) : "";
  const streams = storesAtRest.streams.filter(({ messages }) => messages > 0);
  const lastOf = (name: string) => (one: Stores) =>
    one.streams.find((stream) => stream.name === name)?.lastSequence ?? 0;
  return table(
    ["store", "at rest", "a second at work"],
    [
      ...streams.map(({ name, messages, bytes }) => [
        `NATS ${name}`,
        `${messages} messages, ${figure(bytes / 1e6)} MB`,
        `${perSecond(lastOf(name))} messages`,
      ]),
      [
        "PostgreSQL",
        `${figure(storesAtRest.databaseMb)} MB`,
        `${perSecond((one) => one.transactions)} transactions`,
      ],
      ["its write-ahead log", "", `${perSecond((one) => one.walMb)} MB`],
      ["its connections", String(storesAtRest.connections), ""],
    ],
  );
}

function problems({ problems: found, refusals, node }: Result): string[] {
  const own: [string, number][] = node.failures > 0 ? [[`node: ${node.lastProblem}`, node.failures]] : [];
  const all = [
    ...refusals.map(([what, count]): [string, number] => [`refused: ${what}`, count]),
    ...own,
    ...found,
  ];
  if (all.length === 0) return ["None."];
  return table(
    ["what", "times"],
    all.slice(0, 20).map(([what, count]) => [what.replaceAll(/[|\n]/g, " "), String(count)]),
  );
}
