import { isAbsolute, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { ServiceAccountName } from "./tokens.ts";

type Config = {
  dataDir: string;
  port: number;
  host: string;
  images: string;
  registry?: string;
  nodes: number;
  serviceAccounts: ServiceAccountName[];
  crashBackoffMs: number;
  jobBackoffMs: number;
};

/** Variables that every container inherits from this machine, and no others. */
export function hostEnvironment(): Record<string, string> {
  const { PATH = "/usr/local/bin:/usr/bin:/bin", LANG = "C.UTF-8", TZ } = process.env;
  return { PATH, LANG, ...(TZ === undefined ? {} : { TZ }) };
}

const USAGE =
  "usage: main.ts --data DIR --port N --images FILE [--host ADDRESS] [--registry HOST:PORT] [--nodes N] [--service-account NAMESPACE/NAME …]";

function number(text: string, name: string, { low, high }: { low: number; high: number }): number {
  const value = Number(text);
  if (text === "" || !Number.isInteger(value) || value < low || value > high) {
    throw new Error(`--${name} must be a whole number from ${low} to ${high}, not "${text}"; ${USAGE}`);
  }
  return value;
}

function required(text: string | undefined, name: string): string {
  if (text === undefined || text === "") throw new Error(`--${name} is missing; ${USAGE}`);
  return text;
}

function account(text: string): ServiceAccountName {
  const [namespace = "", name = "", ...rest] = text.split("/");
  if (namespace === "" || name === "" || rest.length > 0) {
    throw new Error(`--service-account must be NAMESPACE/NAME, not "${text}"; ${USAGE}`);
  }
  return { namespace, name };
}

/** Parses the command line of main.ts; throws an error with one sentence that says what to correct. */
export function parseConfig(args: string[]): Config {
  const { values } = parseArgs({
    args,
    options: {
      data: { type: "string" },
      port: { type: "string" },
      host: { type: "string", default: "127.0.0.1" },
      images: { type: "string" },
      registry: { type: "string" },
      nodes: { type: "string", default: "2" },
      "service-account": { type: "string", multiple: true, default: [] },
      "crash-backoff-ms": { type: "string", default: "10000" },
      "job-backoff-ms": { type: "string", default: "10000" },
    },
  });
  const backoff = { low: 1, high: 600_000 };
  return {
    dataDir: absolute(required(values.data, "data")),
    port: number(required(values.port, "port"), "port", { low: 0, high: 65_535 }),
    host: values.host,
    images: absolute(required(values.images, "images")),
    ...(values.registry ? { registry: values.registry } : {}),
    nodes: number(values.nodes, "nodes", { low: 1, high: 60 }),
    serviceAccounts: values["service-account"].map(account),
    crashBackoffMs: number(values["crash-backoff-ms"], "crash-backoff-ms", backoff),
    jobBackoffMs: number(values["job-backoff-ms"], "job-backoff-ms", backoff),
  };
}

function absolute(path: string): string {
  return isAbsolute(path) ? path : resolve(path);
}
