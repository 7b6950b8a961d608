import { findText, writeFileAtomic } from "../atomic-file.ts";
import { StackError } from "../error.ts";
import { findFreePort, tryPort } from "./free-port.ts";
import { findPortHolder } from "./holder.ts";

/** What the stack listens on when nothing else is asked; below the range that Linux gives to outgoing connections. */
export const defaultPorts = {
  "gateway-external": 8080,
  "gateway-internal": 8081,
  game: 25565,
  postgres: 15432,
  nats: 14222,
  "local-cluster": 16443,
  smtp: 11025,
  "mail-page": 18025,
  "registry-gate": 15000,
  registry: 15001,
  "registry-lease": 15002,
  sftp: 2222,
} as const;

export type PortName = keyof typeof defaultPorts;
export type Ports = Record<PortName, number> & Record<string, number>;

async function refuse(name: string, port: number, fault: string): Promise<never> {
  if (fault === "EACCES") {
    throw new StackError(`port ${port} (${name}) may not be used by this user; use --ports auto`);
  }
  const holder = findPortHolder(port);
  const who = holder ? `pid ${holder.pid} ${holder.name}` : "another process";
  throw new StackError(`port ${port} (${name}) is taken by ${who}; free it, or use --ports auto`);
}

function readPorts(path: string): Record<string, number> {
  try {
    const found: unknown = JSON.parse(findText(path) ?? "{}");
    const entries = Object.entries(typeof found === "object" && found !== null ? found : {});
    return Object.fromEntries(
      entries.filter((entry): entry is [string, number] => Number.isInteger(entry[1])),
    );
  } catch {
    return {};
  }
}

/** A port that nothing has and that is not in `taken`. */
async function freePort(taken: Set<number>): Promise<number> {
  for (;;) {
    const port = await findFreePort();
    if (!taken.has(port)) return port;
  }
}

/**
 * Decides every port of a run and checks that it is free. `fixed`: the defaults, or a `StackError` that names who has
 * one. `auto`: free ports, remembered in `file` so that a second run keeps them as far as they are still free.
 * `preferred` names that are taken get a free remembered port in place of an error. `extra` names get free remembered
 * ports in both modes (replicas beyond the first).
 */
export async function choosePorts(options: {
  mode: "fixed" | "auto";
  file: string;
  needed: readonly PortName[];
  preferred?: readonly PortName[];
  extra?: readonly string[];
}): Promise<Ports> {
  const remembered = readPorts(options.file);
  const ports: Ports = { ...defaultPorts };
  const free = new Set<string>(options.extra ?? []);
  for (const name of options.needed) {
    if (options.mode === "auto") free.add(name);
    else {
      const fault = await tryPort(defaultPorts[name]);
      if (fault && options.preferred?.includes(name)) free.add(name);
      else if (fault) await refuse(name, defaultPorts[name], fault);
    }
  }
  const taken = new Set<number>(options.mode === "auto" ? [] : Object.values(defaultPorts));
  for (const name of free) {
    const old = remembered[name];
    const isKept = old !== undefined && !taken.has(old) && (await tryPort(old)) === undefined;
    const port = isKept ? old : await freePort(taken);
    taken.add(port);
    ports[name] = port;
  }
  const kept = Object.fromEntries([...free].map((name) => [name, ports[name]]));
  if (free.size > 0)
    writeFileAtomic(options.file, `${JSON.stringify({ ...remembered, ...kept }, null, 2)}\n`);
  return ports;
}
