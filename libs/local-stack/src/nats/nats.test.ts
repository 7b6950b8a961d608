import assert from "node:assert/strict";
import { chmodSync, chownSync, copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { connect } from "@nats-io/transport-node";
import { isSupportedNats } from "@svc/proto";
import { defaultCacheDirs } from "../fetch/find.ts";
import type { Route } from "../fetch/routes.ts";
import { runCommand } from "../process/run.ts";
import { scratchDir } from "../testing/scratch.ts";
import { findNatsServer } from "./find.ts";
import { startNats } from "./nats.ts";

const repo = resolve(import.meta.dirname, "../../../..");
const quiet = () => undefined;

/** The real server, as every start of a stack finds it. */
function realNats(): Promise<string> {
  return findNatsServer({
    env: process.env,
    cacheDirs: defaultCacheDirs(process.env, repo),
    progress: quiet,
  });
}

function writeFakeServer(path: string, version: string): string {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, `#!/bin/sh\necho "nats-server: v${version}"\n`);
  chmodSync(path, 0o755);
  return path;
}

function users(names: readonly string[]): string {
  return `authorization { users: [ ${names.map((name) => `{ user: "${name}", password: "pw" }`).join(", ")} ] }`;
}

test("the server of a test keeps its streams over a kill -9 and takes new users on reload", async () => {
  using scratch = scratchDir();
  const options = {
    binary: await realNats(),
    dataDir: join(scratch.path, "nats"),
    extraConfig: users(["ann"]),
  };
  const first = await startNats(options);
  const ann = await connect({ servers: first.url, user: "ann", pass: "pw" });
  assert.ok(isSupportedNats(ann.info?.version ?? "0"));
  const created = await ann.request(
    "$JS.API.STREAM.CREATE.S",
    JSON.stringify({ name: "S", subjects: ["s"] }),
  );
  assert.equal(created.json<{ error?: unknown }>().error, undefined);
  await ann.close();
  process.kill(first.pid, "SIGKILL");
  await first.stop();

  const second = await startNats(options);
  second.reload(users(["ann", "bob"]));
  const bob = await connectWhenAllowed(second.url, "bob");
  const stream = await bob.request("$JS.API.STREAM.INFO.S", "");
  assert.equal(stream.json<{ config: { name: string } }>().config.name, "S");
  await bob.close();
  assert.equal(statSync(join(scratch.path, "nats", "nats.conf")).mode & 0o777, 0o600);
  await second.stop();
});

async function connectWhenAllowed(url: string, user: string) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await connect({ servers: url, user, pass: "pw", reconnect: false });
    } catch (error) {
      if (attempt >= 100) throw error;
    }
  }
}

test("a bad configuration is told with the words of the server", async () => {
  using scratch = scratchDir();
  const bad = { binary: await realNats(), dataDir: join(scratch.path, "nats"), extraConfig: "nonsense: [" };
  await assert.rejects(
    startNats(bad),
    /nats-server exited with code 1; the end of .*nats\.log:\n.*Parse error on line/,
  );
});

test("both servers run as a user without any rights", {
  skip: process.getuid?.() !== 0 && "needs root",
}, async () => {
  using scratch = scratchDir();
  const dir = join(scratch.path, "data");
  mkdirSync(dir);
  chownSync(dir, 65534, 65534);
  const binary = join(scratch.path, "nats-server");
  copyFileSync(await realNats(), binary);
  const script = resolve(import.meta.dirname, "../testing/as-nobody.ts");
  const account = { uid: 65534, gid: 65534, cwd: "/", env: { PATH: "/usr/bin:/bin" } };
  const done = await runCommand(process.execPath, [script, dir, binary], account);
  assert.equal(done.output, "both servers ran");
});

test("a server named by SVC_NATS_SERVER is taken when it is new enough and refused when not", async () => {
  using scratch = scratchDir();
  const find = (path: string) =>
    findNatsServer({ env: { SVC_NATS_SERVER: path }, cacheDirs: [scratch.path], progress: quiet });
  const good = writeFakeServer(join(scratch.path, "new"), "2.11.16");
  assert.equal(await find(good), good);
  for (const version of ["2.10.27", "2.11.15", "2.12.6"]) {
    const old = writeFakeServer(join(scratch.path, version), version);
    const refusal = {
      message: new RegExp(`names nats-server ${version}, and svc needs .* 2\\.11\\.16, 2\\.12\\.7 or`),
    };
    await assert.rejects(find(old), refusal);
  }
  await assert.rejects(
    find(join(scratch.path, "none")),
    /not a nats-server that runs here; correct or unset/,
  );
});

test("a server on PATH comes before the cache, one that is too old is passed over", async () => {
  using scratch = scratchDir();
  const at = (name: string) => join(scratch.path, name, "nats-server");
  writeFakeServer(at("old"), "2.12.6");
  writeFakeServer(at("new"), "2.12.7");
  writeFakeServer(at("cache"), "2.15.1");
  const find = (path: string) =>
    findNatsServer({ env: { PATH: path }, cacheDirs: [join(scratch.path, "cache")], progress: quiet });
  assert.equal(await find(`${scratch.path}/old:${scratch.path}/new`), at("new"));
  assert.equal(await find(`${scratch.path}/old`), at("cache"));
});

test("a failed route makes room for the next at once, and starters at the same time share one file", async () => {
  using scratch = scratchDir();
  const broken: Route = { name: "broken", fetch: () => Promise.reject(new Error("not reachable")) };
  const tooOld: Route = { name: "old", fetch: async ({ dir }) => writeFakeServer(join(dir, "o"), "2.10.0") };
  const works: Route = { name: "works", fetch: async ({ dir }) => writeFakeServer(join(dir, "x"), "2.15.1") };
  const cacheDir = join(scratch.path, "cache");
  const find = (routes: Route[]) =>
    findNatsServer({ env: {}, cacheDirs: ["/dev/null/none", cacheDir], progress: quiet, routes });
  const found = await Promise.all([1, 2, 3].map(() => find([broken, tooOld, works])));
  assert.deepEqual(new Set(found), new Set([join(cacheDir, "nats-server")]));
  assert.deepEqual(readdirSync(cacheDir), ["nats-server"]);
});

test("when nothing works, the fault names every reason and what to do", async () => {
  using scratch = scratchDir();
  const broken: Route = { name: "release archive", fetch: () => Promise.reject(new Error("not reachable")) };
  const attempt = findNatsServer({ env: {}, cacheDirs: [scratch.path], progress: quiet, routes: [broken] });
  await assert.rejects(
    attempt,
    /\(release archive: not reachable\); install one, name it with SVC_NATS_SERVER/,
  );
});
