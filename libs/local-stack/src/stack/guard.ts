import { accessSync, constants, mkdirSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode, explainDiskFault, StackError } from "../error.ts";
import { allServiceNames, type StackService } from "../program/sources.ts";

const leastFreeBytes = 300 * 1024 * 1024;

/** Rejects platforms without embedded parts. */
export function checkPlatform(platform: string = process.platform, arch: string = process.arch): void {
  if (platform === "linux" && (arch === "x64" || arch === "arm64")) return;
  throw new StackError(
    `the embedded stack needs Linux on x64, this is ${platform} on ${arch}; use compose.yaml instead`,
  );
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

// One folder at a time: Node's recursive mkdir never ends where the system answers ENOENT, as below /proc.
function makeFolder(path: string): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (isFolder(path)) return;
    const code = errorCode(error);
    const choose = "choose another folder with --data";
    if (code === "EEXIST") throw new StackError(`${path} is a file, not a folder; ${choose}`);
    if (code === "ENOENT") throw new StackError(`can't create a folder in ${parent}; ${choose}`);
    throw error;
  }
}

/** Creates the data folder and checks that it is writable and has free space. */
export function prepareDataDir(data: string): void {
  try {
    makeFolder(data);
    accessSync(data, constants.W_OK);
  } catch (error) {
    throw explainDiskFault(error, data);
  }
  const disk = statfsSync(data);
  if (disk.bavail * disk.bsize >= leastFreeBytes) return;
  throw new StackError(
    `the disk that holds ${data} has less than ${leastFreeBytes / 1024 / 1024} MB left; ` +
      "free some space or choose another folder with --data",
  );
}

function checkName(name: string, option: string): void {
  if ((allServiceNames as readonly string[]).includes(name)) return;
  throw new StackError(
    `${option} names ${name}, which is not a service; the services are ${allServiceNames.join(", ")}`,
  );
}

const alone: Readonly<Record<string, string>> = {
  "login-gate": "the proxy uses",
  lobby: "the proxy uses",
  "registry-gate": "the registry has",
  sftp: "--sftp starts",
};

/** How many servers of NATS the stack runs: one, or three that store everything three times. */
export function natsServers(replicas: Readonly<Record<string, number>> | undefined): 1 | 3 {
  const count = replicas?.["nats"] ?? 1;
  if (count === 1 || count === 3) return count;
  throw new StackError(`--replicas nats=${count}: NATS runs as one server or as three`);
}

/** The services to run with the number of processes of each. */
export function chooseServices(options: {
  only?: readonly string[];
  replicas?: Readonly<Record<string, number>>;
  sftp?: boolean;
}): Map<StackService, number> {
  for (const name of options.only ?? []) checkName(name, "--only");
  natsServers(options.replicas);
  for (const [name, count] of Object.entries(options.replicas ?? {})) {
    if (name === "nats") continue;
    checkName(name, "--replicas");
    if (alone[name] !== undefined) {
      throw new StackError(`--replicas ${name}=${count}: ${alone[name]} only one ${name}`);
    }
    if (Number.isInteger(count) && count >= 1 && count <= 16) continue;
    throw new StackError(`--replicas ${name}=${count}: give a whole number from 1 to 16`);
  }
  const isAll = !options.only?.length;
  const wanted = allServiceNames.filter((name) => {
    if (name === "sftp" && options.sftp) return true;
    return isAll ? name !== "sftp" : options.only?.includes(name);
  });
  return new Map(wanted.map((name) => [name, options.replicas?.[name] ?? 1]));
}
