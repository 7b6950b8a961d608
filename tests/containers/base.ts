// What stands in for the base image that Dockerfiles name, since nothing is pulled: Debian's own packages, and the Node and npm
// of this machine where the official image has them.

import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { defaultCacheDirs } from "@svc/local-stack";

const repo = resolve(import.meta.dirname, "../..");
const mirror = "http://deb.debian.org/debian";
const suite = "bookworm";
const unused = [
  "var/cache/apt/archives",
  "var/lib/apt/lists",
  "usr/share/doc",
  "usr/share/man",
  "usr/share/locale",
];

/** Where images look for the authorities that this machine trusts: what caches its downloads may have one of its own. */
export const authorities = "/etc/ssl/certs/ca-certificates.crt";

/** Path of its archive, which is kept in the cache of downloads: made once, in half a minute. */
export async function ensureBase(): Promise<string> {
  const [cache = ""] = defaultCacheDirs(process.env, repo);
  const archive = join(cache, `node-base-${suite}-${process.version}.tar`);
  if (existsSync(archive)) return archive;
  const dir = mkdtempSync(join(tmpdir(), "svc-base-"));
  try {
    const root = join(dir, "root");
    execFileSync("debootstrap", ["--variant=minbase", suite, root, mirror], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    for (const folder of unused) rmSync(join(root, folder), { recursive: true, force: true });
    // apt and dpkg expect them.
    for (const folder of ["var/cache/apt/archives/partial", "var/lib/apt/lists/partial"])
      mkdirSync(join(root, folder), { recursive: true });
    addNode(root);
    mkdirSync(cache, { recursive: true });
    execFileSync("tar", ["-c", "-C", root, "-f", join(dir, "base.tar"), "."]);
    const beside = `${archive}.${process.pid}`;
    cpSync(join(dir, "base.tar"), beside);
    renameSync(beside, archive);
    return archive;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function addNode(root: string): void {
  if (existsSync(authorities)) {
    mkdirSync(join(root, dirname(authorities)), { recursive: true });
    cpSync(authorities, join(root, authorities), { dereference: true });
  }
  const at = (path: string) => join(root, "usr/local", path);
  const modules = execFileSync("npm", ["root", "--global"], { encoding: "utf8" }).trim();
  cpSync(process.execPath, at("bin/node"));
  cpSync(join(modules, "npm"), at("lib/node_modules/npm"), { recursive: true, dereference: true });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", at("bin/npm"));
  appendFileSync(join(root, "etc/passwd"), "node:x:1000:1000::/home/node:/bin/bash\n");
  appendFileSync(join(root, "etc/group"), "node:x:1000:\n");
  mkdirSync(join(root, "home/node"));
}
