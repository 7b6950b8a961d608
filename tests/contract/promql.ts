// Which metrics and labels a query names, and which there are.

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

/** What every scrape and every process adds. */
const ofTargets = ["job", "instance"];
const common: readonly [name: string, labels: string[]][] = [
  ["up", []],
  ["ALERTS", ["alertname", "alertstate", "severity"]],
  ["process_start_time_seconds", []],
  ["process_resident_memory_bytes", []],
  ["process_cpu_seconds_total", []],
  ["process_open_fds", []],
  ["nodejs_eventloop_utilization_ratio", []],
  ["nodejs_heap_size_used_bytes", []],
];
/** Of node_exporter and kube-state-metrics. */
const ofNodes: readonly [name: string, labels: string[]][] = [
  ["node_filesystem_avail_bytes", ["fstype", "mountpoint", "device"]],
  ["node_filesystem_size_bytes", ["fstype", "mountpoint", "device"]],
  ["node_memory_MemAvailable_bytes", []],
  ["node_memory_MemTotal_bytes", []],
  ["kube_node_status_condition", ["node", "condition", "status"]],
];

/** Labels of every metric that a query may name: those of docs/reference/metrics.md and of common exporters. */
export function knownMetrics(): ReadonlyMap<string, readonly string[]> {
  const page = readFileSync(join(root, "docs/reference/metrics.md"), "utf8");
  const rows = [...page.matchAll(/^\| `(svc_\w+)` \| ([^|]*) \|/gm)];
  const ours = rows.map(([, name = "", labels = ""]): [string, string[]] => [
    name,
    [...labels.matchAll(/`(\w+)`/g)].map(([, label = ""]) => label),
  ]);
  return new Map([...common, ...ofNodes, ...ours]);
}

/** What is wrong with the names of a query; empty when all exist. */
export function problemsOf(query: string, metrics = knownMetrics()): string[] {
  const used = [...query.matchAll(/\b((?:svc|process|nodejs|node|kube)_\w+|up\b|ALERTS\b)(?:\{([^}]*)\})?/g)];
  if (used.length === 0) return [`${query} names no metric`];
  const allLabels = new Set([...ofTargets, "le"]);
  const problems = used.flatMap(([, name = "", selector = ""]) => {
    const labels = metrics.get(name) ?? metrics.get(name.replace(/_(bucket|sum|count)$/, ""));
    if (!labels) return [`nothing exports ${name}`];
    for (const label of labels) allLabels.add(label);
    const named = [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label);
    return named
      .filter((label) => !labels.includes(label) && !ofTargets.includes(label))
      .map((label) => `${name} has no label ${label}`);
  });
  const groups = [...query.matchAll(/\b(?:by|on|without|group_left)\s*\(([^)]*)\)/g)];
  const grouped = groups.flatMap(([, list = ""]) => list.split(",").map((label) => label.trim()));
  return [
    ...problems,
    ...grouped.filter((label) => !allLabels.has(label)).map((label) => `no metric has the label ${label}`),
  ];
}
