import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { code, heading, page, table } from "./page.ts";

const root = resolve(import.meta.dirname, "../..");
/** `name: "svc_…", help: "…"` of a declaration, or the first two arguments of a helper that makes one. */
const declaration =
  /(?:name:\s*)?["`](svc_[a-z0-9_${}]+)["`],\s*(?:help:\s*)?(?:"((?:[^"\\]|\\.)*)"|`([^`]*)`)(?=([^;}]{0,160}))/g;
/** `labelNames: [...]`, the names of `labels: {...}`, or the third argument. */
const labels = /labelNames:\s*(\[[^\]]*\])|labels:\s*\{([^}]*)|^,\s*(\[[^\]]*\])/;

type Metric = { name: string; help: string; labels: string };

/** Every metric of our own, found where it is declared. */
export function metricsPage() {
  const folders = globSync(["libs/*/src", "services/*/src"], { cwd: root }).sort();
  const blocks = folders.flatMap((folder) => {
    const metrics = metricsIn(folder);
    const name = folder.split("/")[1] ?? folder;
    if (metrics.length === 0) return [];
    return [
      heading(name, folder.slice(0, -4)),
      table(
        ["Metric", "Labels", "Meaning"],
        metrics.map((metric) => [code(metric.name), metric.labels, metric.help]),
      ),
    ];
  });
  return page("metrics.md", [
    "# Metrics",
    `Every process serves \`/metrics\` on its health port, and gateway-internal also on the internal face; the external face
never does. Each exports the process metrics of prom-client and what the libraries it uses declare: every service those of
\`mesh\` and \`telemetry\`, those with tables also those of \`store\`, the gateways those of \`http-gateway\`. What to do when a metric grows is in the README of its
service and in [alert-rules.md](alert-rules.md).`,
    ...blocks,
  ]);
}

function metricsIn(folder: string): Metric[] {
  const files = globSync("**/*.ts", { cwd: join(root, folder) })
    .filter((file) => !/\.test\.ts$|(^|\/)testing\//.test(file))
    .sort();
  return files.flatMap((file) => declaredIn(readFileSync(join(root, folder, file), "utf8")));
}

/** Metrics that a source declares. */
function declaredIn(source: string): Metric[] {
  return [...source.matchAll(declaration)].flatMap(([, name = "", quoted, template, rest = ""]) => {
    const [, named, listed, third] = labels.exec(rest) ?? [];
    const labelled = listed ? namesIn(listed, /(\w+):/g) : namesIn(named ?? third ?? "", /"(\w+)"/g);
    const metric = { name, help: quoted ?? template ?? "", labels: labelled };
    return name.includes("{noun}") ? meters.map((meter) => filled(metric, meter)) : [metric];
  });
}

/** The two meters of requests that the mesh makes from one declaration. */
const meters = [
  { noun: "served", what: "answered by this process" },
  { noun: "calls", what: "made by this process" },
];

function filled(
  { name, help, labels: named }: Metric,
  { noun, what }: { noun: string; what: string },
): Metric {
  const fill = (text: string) => text.replaceAll(/\$\{noun\}/g, noun).replaceAll(/\$\{what\}/g, what);
  return { name: fill(name), help: fill(help), labels: named };
}

function namesIn(list: string, label: RegExp): string {
  return [...list.matchAll(label)].map(([, name = ""]) => code(name)).join(" ");
}
