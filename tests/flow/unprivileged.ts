// A user without rights, as whom a stack runs where the tests run as root.

import { execFileSync } from "node:child_process";
import { chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");
/** `nobody` of every distribution. */
const nobody = 65_534;

export type StackUser = { uid: number; gid: number; env: NodeJS.ProcessEnv; remove: () => void };

/** Undefined where the tests do not run as root: then the stack has no rights anyway. */
export function createStackUser(): StackUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const home = mkdtempSync(join(tmpdir(), "svc-home-"));
  const own = join(home, ".cache", "svc");
  const known = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "svc");
  mkdirSync(dirname(own), { recursive: true });
  // What was fetched once need not be fetched again.
  if (existsSync(known)) cpSync(known, own, { recursive: true });
  prepareCheckout(join(home, "panel"));
  execFileSync("chown", ["-R", `${nobody}:${nobody}`, home]);
  return {
    uid: nobody,
    gid: nobody,
    env: { HOME: home, USER: "nobody", LOGNAME: "nobody", XDG_CACHE_HOME: undefined },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** Programs and panel are built in the checkout, which belongs to somebody else here. */
function prepareCheckout(link: string): void {
  const run = (...args: string[]) => execFileSync(process.execPath, args, { cwd: root, stdio: "ignore" });
  run(join(root, "libs/local-stack/src/program/main.ts"), root);
  run(join(root, "services/panel/build/main.ts"), "build", "--link", link);
}

/** A folder for the data of a stack of that user. */
export function makeDataDir(user: StackUser | undefined): string {
  const dir = mkdtempSync(join(tmpdir(), "svc-stack-"));
  if (user) chownSync(dir, user.uid, user.gid);
  return dir;
}
