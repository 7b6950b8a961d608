// Lane `registry`: skopeo and buildah as clients of the gate, with an image built from scratch.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { defaultCacheDirs, findDockerRegistry } from "@svc/local-stack";
import { type Fixture, passwords, startFixture } from "./testing/fixture.ts";

const run = promisify(execFile);
const repo = resolve(import.meta.dirname, "../../..");
const skip = process.env["SVC_REGISTRY_LANE"] === undefined && "lane registry: no buildah and skopeo";

describe("skopeo and buildah at the gate", { skip }, () => {
  let gate: Fixture;
  let dir: string;
  before(async () => {
    const cacheDirs = defaultCacheDirs(process.env, repo);
    gate = await startFixture(
      await findDockerRegistry({ env: process.env, cacheDirs, progress: () => undefined }),
    );
    dir = mkdtempSync(join(tmpdir(), "svc-clients-"));
    mkdirSync(join(dir, "context"));
    writeFileSync(join(dir, "context", "Dockerfile"), "FROM scratch\nCOPY file /data/file\n");
    writeFileSync(join(dir, "context", "file"), "x".repeat(100_000));
    await buildah(
      "bud",
      "--isolation=chroot",
      "--layers=false",
      "--timestamp=0",
      "-t=one",
      join(dir, "context"),
    );
  });
  after(async () => {
    await gate.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  const buildah = (...args: string[]) => {
    const [root, runroot] = [join(dir, "root"), join(dir, "run")];
    return run("buildah", ["--root", root, "--runroot", runroot, "--storage-driver=vfs", ...args]);
  };
  const creds = (name: keyof typeof passwords) => `${name}:${passwords[name]}`;
  const at = (reference: string) => `docker://${gate.host()}/${reference}`;
  const push = (reference: string, name: keyof typeof passwords) =>
    buildah("push", "--tls-verify=false", `--creds=${creds(name)}`, "localhost/one", at(reference));
  const inspect = async (reference: string) =>
    JSON.parse((await run("skopeo", ["inspect", "--tls-verify=false", at(reference)])).stdout).Digest;

  test("buildah pushes a pack, and skopeo reads its digest without a password", async () => {
    await push("packs/one:1", "build");
    const digest = await inspect("packs/one:1");
    assert.match(digest, /^sha256:[0-9a-f]{64}$/);
    await push("packs/one:2", "build");
    assert.equal(await inspect("packs/one:2"), digest);
  });
  test("skopeo copies between packs, and neither without a password nor below svc/", async () => {
    const copy = (to: string, ...more: string[]) =>
      run("skopeo", [
        ...["copy", "--src-tls-verify=false", "--dest-tls-verify=false", ...more],
        ...[at("packs/one:1"), at(to)],
      ]);
    await copy("packs/two:1", `--dest-creds=${creds("build")}`);
    assert.equal(await inspect("packs/two:1"), await inspect("packs/one:1"));
    await assert.rejects(
      copy("packs/three:1", "--dest-no-creds"),
      /unauthorized|authentication required|Log in/i,
    );
    await assert.rejects(copy("svc/one:1", `--dest-creds=${creds("build")}`), /may not write to svc\/one/);
    await copy("svc/one:1", `--dest-creds=${creds("platform")}`);
  });
  test("skopeo deletes as prune alone", async () => {
    const remove = (name: keyof typeof passwords) =>
      run("skopeo", ["delete", "--tls-verify=false", `--creds=${creds(name)}`, at("packs/two:1")]);
    await assert.rejects(remove("build"), /may not delete/);
    await remove("prune");
    await assert.rejects(inspect("packs/two:1"), /manifest unknown/i);
  });
});
