import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../process/run.ts";
import { downloadChecked } from "./download.ts";
import type { Arch, FetchedProgram } from "./program.ts";

type Place = { dir: string; arch: Arch; program: FetchedProgram };

/** One way to get a program: leaves its binary somewhere below `dir` and returns the path, or throws the reason. */
export type Route = {
  name: string;
  fetch: (place: Place, signal: AbortSignal) => Promise<string>;
};

const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
const suites = ["sid", "forky", "bookworm"];

async function runOrThrow(
  command: string,
  args: readonly string[],
  options: { cwd: string; signal: AbortSignal },
) {
  const done = await runCommand(command, args, options);
  if (done.code !== 0) throw new Error(done.output.split("\n").at(-1) || `${command} failed`);
  return done.output;
}

/** The archive that the maintainers publish, checked against the pinned digest. */
export const releaseRoute: Route = {
  name: "release archive",
  fetch: async ({ dir, arch, program }, signal) => {
    const { url, sha256, file } = program.release;
    const archive = join(dir, "release.tar.gz");
    await downloadChecked({ url: url(arch), sha256: sha256[arch] }, archive, signal);
    await runOrThrow("tar", ["-xzf", archive, "-C", dir], { cwd: dir, signal });
    return join(dir, file(arch));
  },
};

/** The mirrors that apt uses on this machine, so that none has to be named here. */
async function findMirrors(dir: string, signal: AbortSignal): Promise<string[]> {
  const args = ["indextargets", "--no-release-info", "--format", "$(REPO_URI)"];
  const output = await runOrThrow("apt-get", args, { cwd: dir, signal });
  const mirrors = output.split("\n").filter((line) => /^https?:\/\//.test(line));
  if (mirrors.length === 0) throw new Error("apt has no mirror configured on this machine");
  return [...new Set(mirrors)].map((mirror) => mirror.replace(/\/*$/, ""));
}

async function unpack(file: string, { dir, program }: Place, signal: AbortSignal): Promise<string> {
  const target = join(dir, "package");
  await runOrThrow("dpkg-deb", ["-x", file, target], { cwd: dir, signal });
  const binary = join(target, program.package.file);
  if (!existsSync(binary)) throw new Error(`the package holds no ${program.name}`);
  return binary;
}

/** The package in the pool of apt's own mirror, checked against the pinned digest. */
export const poolRoute: Route = {
  name: "package pool",
  fetch: async (place, signal) => {
    const { dir, arch } = place;
    const { path, sha256 } = place.program.pool;
    const file = join(dir, "pool.deb");
    const reasons: string[] = [];
    for (const mirror of await findMirrors(dir, signal)) {
      const source = { url: `${mirror}/${path(arch)}`, sha256: sha256[arch] };
      const fault = await downloadChecked(source, file, signal).then(
        () => undefined,
        (error: Error) => error.message,
      );
      if (fault === undefined) return unpack(file, place, signal);
      reasons.push(fault);
    }
    throw new Error(reasons.join(", "));
  },
};

/** Settings that make apt work in a folder of its own: no root, no change to the machine. */
function privateApt(dir: string): string[] {
  const values = {
    "Dir::Etc::sourcelist": join(dir, "sources.list"),
    "Dir::Etc::sourceparts": "-",
    "Dir::State::lists": join(dir, "lists"),
    "Dir::State::status": join(dir, "status"),
    "Dir::Cache": join(dir, "cache"),
    "Acquire::Languages": "none",
    "Debug::NoLocking": "1",
    "APT::Sandbox::User": "",
  };
  return Object.entries(values).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
}

async function downloadBySuite(
  source: { mirror: string; suite: string },
  place: Place,
  signal: AbortSignal,
): Promise<string> {
  const { dir, program } = place;
  for (const folder of ["lists/partial", "cache/archives/partial"]) {
    mkdirSync(join(dir, folder), { recursive: true });
  }
  writeFileSync(join(dir, "status"), "");
  writeFileSync(
    join(dir, "sources.list"),
    `deb [signed-by=${keyring}] ${source.mirror} ${source.suite} main\n`,
  );
  const options = { cwd: dir, signal };
  await runOrThrow("apt-get", ["-qq", ...privateApt(dir), "update"], options);
  await runOrThrow("apt-get", ["-qq", ...privateApt(dir), "download", program.package.name], options);
  const prefix = `${program.package.name}_`;
  const file = readdirSync(dir).find((name) => name.startsWith(prefix) && name.endsWith(".deb"));
  if (!file) throw new Error(`${source.suite} has no ${program.package.name}`);
  return unpack(join(dir, file), place, signal);
}

/** The newest package of the distribution by its signed index, for the day when the pinned one has left the pool. */
export const signedIndexRoute: Route = {
  name: "signed package index",
  fetch: async (place, signal) => {
    const { dir } = place;
    if (!existsSync(keyring)) throw new Error(`${keyring} is not installed`);
    const reasons: string[] = [];
    for (const mirror of await findMirrors(dir, signal)) {
      for (const suite of suites) {
        const folder = join(dir, `${suite}-${reasons.length}`);
        mkdirSync(folder);
        try {
          return await downloadBySuite({ mirror, suite }, { ...place, dir: folder }, signal);
        } catch (error) {
          reasons.push(error instanceof Error ? error.message : String(error));
        }
      }
    }
    throw new Error(reasons.join(", "));
  },
};
