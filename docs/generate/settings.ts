import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { settings as builds } from "../../services/builds/src/config.ts";
import { settings as gatewayExternal } from "../../services/gateway-external/src/config.ts";
import { settings as gatewayInternal } from "../../services/gateway-internal/src/config.ts";
import { settings as identity } from "../../services/identity/src/config.ts";
import { settings as lifecycle } from "../../services/lifecycle/src/config.ts";
import { settings as lobby } from "../../services/lobby/src/config.ts";
import { settings as loginGate } from "../../services/login-gate/src/config.ts";
import { settings as opsWatchdog } from "../../services/ops-watchdog/src/config.ts";
import { namesOf, settings as proxy, fileName as proxyFile } from "../../services/proxy/src/config.ts";
import { limits as proxyLimits } from "../../services/proxy/src/limit-settings.ts";
import { settings as registryGate } from "../../services/registry-gate/src/config.ts";
import { settings as sftp } from "../../services/sftp/src/config.ts";
import { settings as storage } from "../../services/storage/src/config.ts";
import { code, heading, page, table } from "./page.ts";

const root = resolve(import.meta.dirname, "../..");
const readers: Readonly<Record<string, unknown>> = {
  "gateway-external": gatewayExternal,
  "gateway-internal": gatewayInternal,
  identity,
  lifecycle,
  storage,
  builds,
  "ops-watchdog": opsWatchdog,
};

const edgeServices = [
  ["login-gate", loginGate],
  ["lobby", lobby],
  ["registry-gate", registryGate],
  ["sftp", sftp],
] as const;

const environment: readonly [string, string][] = [
  ["`SVC_CONFIG`", "the configuration file, as `--config FILE`"],
  ["`SVC_SET`", "lines `section.key=value`, as `--set`; they win over the file"],
  [
    "`SVC_NATS_URL`, `SVC_NATS_USER`, `SVC_NATS_PASSWORD`",
    "the mesh, the servers of a cluster with commas between them; the user defaults to the service's name",
  ],
  [
    "`SVC_DATABASE_URL`, `SVC_DATABASE_POOL_SIZE`",
    "PostgreSQL as the service's own role; 1 to 25 connections",
  ],
  ["`SVC_KUBECONFIG`", "the cluster; inside a pod its service account is used instead"],
  ["`SVC_LISTEN`", "address of a gateway, in place of `server.listen`"],
  ["`SVC_HEALTH_HOST`, `SVC_HEALTH_PORT`", "where `/healthz`, `/readyz` and `/metrics` are served"],
  ["`SVC_LANE_HOST`", "address where gateways reach this process for byte transfers"],
  ["`SVC_LOG_LEVEL`", "`debug`, `info`, `warn` or `error`"],
  [
    "`SVC_TOKENS_DIR`",
    "gateway-internal: a folder with one token file for each caller, read again without a restart",
  ],
  [
    "`SVC_SERVICE_TOKEN`, `SVC_LIMBO_TOKEN`, `SVC_BUILD_TOKEN`, `SVC_OPS_TOKEN`",
    "gateway-internal: the tokens themselves where there is no such folder",
  ],
];

/** Every setting of every service with its default. */
export function settingsPage() {
  return page("settings.md", [
    "# Settings and limits",
    `Every limit is a setting. The services read one TOML file; \`--set section.key=value\` overrides it, and each service
reads only its own sections. Unknown sections and keys stop the start with a message that names them. Spans are written
\`500ms\`, \`30s\`, \`10m\`, \`12h\`, \`15d\` or \`3mo\` (months of 30 days), sizes as Kubernetes quantities (\`512Mi\`,
\`4Gi\`). Secrets are never in the file: keys that end in \`_ref\` name environment variables, keys that end in \`_file\`
name files.`,
    heading("environment", "Environment of a service"),
    table(
      ["Variable", "Meaning"],
      environment.map((row) => [...row]),
    ),
    ...everySection(),
    heading("proxy", "proxy"),
    `The proxy reads \`${proxyFile}\` in the folder \`SVC_PROXY_DIR\` (lines \`key=value\`) and the environment, which wins.`,
    edgeTable("proxy", { ...proxy, ...proxyLimits }, (name) => {
      const { key, variable } = namesOf(name);
      return [code(key), code(variable)];
    }),
    ...edgeServices.flatMap(([service, settings]) => [
      heading(service, service),
      edgeTable(service, settings, (name) => [code(name)]),
    ]),
  ]);
}

/** The sections of all services; one that several read in the same way is there once. */
function everySection(): string[] {
  const seen = new Set<string>();
  return Object.entries(readers)
    .flatMap(([service, schema]) => sectionsOf(service, schema))
    .flatMap(({ title, id, rows }) => {
      if (seen.has(rows)) return [];
      seen.add(rows);
      return [heading(id, title), rows];
    });
}

type Schema = { _zod: { def: Record<string, unknown> } };

function sectionsOf(service: string, schema: unknown) {
  const comments = commentsOf(service);
  return Object.entries(shapeOf(schema as Schema) ?? {}).flatMap(([section, inner]) => {
    const shape = shapeOf(inner);
    if (!shape) return [];
    const rows = Object.entries(shape).map(([key, value]) => [
      code(`${section}.${key}`),
      defaultOf(value),
      meaningOf(`${section}.${key}`, comments.get(key)),
    ]);
    const text = table(["Setting", "Default", "Meaning"], rows);
    return [{ id: `${service}-${section}`, title: `[${section}] as ${service} reads it`, rows: text }];
  });
}

const meanings = new Map<string, string>();

/** A section that several services read is described where the first of them declares it. */
function meaningOf(setting: string, comment: string | undefined): string {
  const meaning = comment ?? meanings.get(setting);
  if (!meaning) throw new Error(`the setting ${setting} has no doc comment that says what it means`);
  meanings.set(setting, meaning);
  return meaning;
}

/** The keys of an object, through defaults, refinements and transformations. */
function shapeOf(schema: Schema): Record<string, Schema> | undefined {
  const { def } = schema._zod;
  if (def["type"] === "object") return def["shape"] as Record<string, Schema>;
  const inner = (def["innerType"] ?? def["in"]) as Schema | undefined;
  return inner && shapeOf(inner);
}

function defaultOf(schema: Schema): string {
  const { def } = schema._zod;
  if ("defaultValue" in def)
    return def["defaultValue"] === "" ? "empty" : code(JSON.stringify(def["defaultValue"]));
  const inner = (def["innerType"] ?? def["in"]) as Schema | undefined;
  return inner ? defaultOf(inner) : "unset";
}

/** Doc comments of keys in the service's settings files, without citations. */
function commentsOf(service: string): Map<string, string> {
  const folders = [
    "libs/config/src",
    `services/${service}/src`,
    ...(service.startsWith("gateway") ? ["libs/http-gateway/src"] : []),
    ...(service === "identity" || service === "ops-watchdog" ? ["libs/smtp/src"] : []),
  ];
  const files = folders.flatMap((folder) =>
    globSync(["config.ts", "settings/*.ts", "*-section.ts", "*-settings.ts"], {
      cwd: join(root, folder),
    }).map((file) => join(root, folder, file)),
  );
  const found = new Map<string, string>();
  for (const file of files.sort()) {
    for (const [, text = "", key = ""] of readFileSync(file, "utf8").matchAll(
      /\/\*\*((?:[^*]|\*(?!\/))*)\*\/\s*([A-Za-z]\w*):/g,
    ))
      found.set(key, plain(text));
  }
  return found;
}

function plain(comment: string): string {
  return comment
    .replaceAll(/^\s*\* ?/gm, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ \([^()]*\.md[^()]*\)/g, "")
    .trim();
}

/** Settings that are variables one by one. */
function edgeTable(
  service: string,
  settings: Readonly<Record<string, unknown>>,
  names: (name: string) => string[],
): string {
  const comments = commentsOf(service);
  const rows = Object.entries(settings).map(([name, value]) => [
    ...names(name),
    defaultOf(value as Schema).replaceAll('"', ""),
    meaningOf(name, comments.get(name)),
  ]);
  const head = rows[0]?.length === 4 ? ["Key", "Variable"] : ["Variable"];
  return table([...head, "Default", "Meaning"], rows);
}
