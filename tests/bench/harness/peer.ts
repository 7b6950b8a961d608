// The peer's figures, and the table that holds ours against them. The peer is MCSManager (panel and daemon, the closest
// control plane on Node), measured once on the reference machine with the same work as ours; it isn't run again here.
// A goal joins by `covers: ["PEER"]` and by rows that carry `peer`.

import { figure, limitText, markdownTable, type Row, verdictOf } from "./report.ts";

/** As recorded: requests a second, milliseconds, microseconds of CPU a request, MB/s, CPU seconds for a GB. */
export const peer = {
  listOf50: { rps: 1_161, p99Ms: 20, cpuUs: 1_153 },
  status: { rps: 4_078, cpuUs: 301 },
  /** A page of 50, the same whatever the number of servers. */
  fleetPage: { ms: 1.5 },
  consoleLine: { p50Ms: 22.6 },
  upload: { megabytesPerSecond: 100, cpuSecondsPerGb: 10.7 },
  download: { megabytesPerSecond: 289, cpuSecondsPerGb: 3.1 },
  malformedSignIn: { rps: 5_400, cpuUs: 167 },
  /** Two processes without database, bus and cluster. */
  idle: { megabytes: 169, cores: 0.002 },
  startOnExistingData: { seconds: 1.15 },
} as const;

const columns = ["goal", "work", "peer", "svc", "svc / peer", "goal is", "result"] as const;

/** The rows that have a figure of the peer's; undefined when none has. */
export function peerTable(rows: readonly Row[]): string | undefined {
  const compared = rows.flatMap((row) => (row.peer === undefined ? [] : [cells(row, row.peer)]));
  return compared.length === 0 ? undefined : markdownTable(columns, compared);
}

function cells(row: Row, theirs: number): string[] {
  return [
    row.goal,
    row.what,
    `${figure(theirs)} ${row.unit}`,
    `${figure(row.ours)} ${row.unit}`,
    `${(row.ours / theirs).toFixed(2)}x`,
    limitText(row, "goal"),
    verdictOf(row),
  ];
}
