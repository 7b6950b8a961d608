// The last release beside this build: its sources out of the history, with the packages that are installed here.

import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const repo = resolve(import.meta.dirname, "../..");
const mostBytes = 512 * 1024 * 1024;

function git(...args: string[]): Buffer {
  return execFileSync("git", args, { cwd: repo, maxBuffer: mostBytes, stdio: ["ignore", "pipe", "pipe"] });
}

/** Commit of the last release; undefined where the history does not reach back to it. */
export function findReleaseCommit(): string | undefined {
  const { commit } = JSON.parse(readFileSync(join(repo, "proto/released.json"), "utf8")) as {
    commit: string;
  };
  try {
    git("cat-file", "-e", `${commit}^{commit}`);
    return commit;
  } catch {
    return undefined;
  }
}

/** Writes the sources of a commit into a new folder, ready to run. */
export function checkOut(commit: string): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-release-"));
  execFileSync("tar", ["-x", "-C", folder], { input: git("archive", "--format=tar", commit) });
  for (const owner of ["", ...workspaces(folder)]) linkPackages(owner, folder);
  return folder;
}

const workspaces = (folder: string) =>
  ["libs", "services"].flatMap((kind) => readdirSync(join(folder, kind)).map((name) => join(kind, name)));

/** Packages of others are those of this checkout; our own ones are those of the release. */
function linkPackages(owner: string, folder: string): void {
  const here = join(repo, owner, "node_modules");
  if (!existsSync(here)) return;
  const there = join(folder, owner, "node_modules");
  mkdirSync(there, { recursive: true });
  for (const name of readdirSync(here).filter((entry) => !["@svc", ".cache"].includes(entry)))
    symlinkSync(join(here, name), join(there, name));
  if (owner !== "") return;
  mkdirSync(join(there, "@svc"));
  for (const member of ["proto", ...workspaces(folder)]) {
    const { name } = JSON.parse(readFileSync(join(folder, member, "package.json"), "utf8")) as {
      name: string;
    };
    symlinkSync(join(folder, member), join(there, name));
  }
}

/** Bundles the programs of a checkout; returns their folder. */
export function bundlePrograms(checkout: string): string {
  const main = join(checkout, "libs/local-stack/src/program/main.ts");
  const said = execFileSync(process.execPath, [main, checkout], { encoding: "utf8" });
  return said.slice(0, said.lastIndexOf(" (")).trim();
}

/** Puts a program of `from` in the place of the one in `to`: whoever starts it again starts the new one. */
export function replaceProgram(name: string, { from, to }: { from: string; to: string }): void {
  const file = `${name}.mjs`;
  // Shared parts have their digest in their names.
  const isPart = (entry: string) => entry.endsWith(".mjs") && !existsSync(join(to, entry));
  for (const part of readdirSync(from).filter(isPart)) copyFileSync(join(from, part), join(to, part));
  const beside = join(to, `.${file}`);
  copyFileSync(join(from, file), beside);
  renameSync(beside, join(dirname(beside), file));
}

/** Starts the stack of a checkout on a data folder, as its `svc up --detach` does. */
export function startRelease(checkout: string, dataDir: string, args: readonly string[]): void {
  const main = join(checkout, "services/cli/src/main.ts");
  execFileSync(process.execPath, [main, "up", "--detach", "--ports", "auto", "--data", dataDir, ...args], {
    cwd: checkout,
    stdio: ["ignore", "ignore", "pipe"],
  });
}
