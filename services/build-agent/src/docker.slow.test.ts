// Lane `docker`: what the steps of a build push to a registry in a container is pulled and started as a container. The variable
// names the socket of a daemon, such as unix:///var/run/docker.sock. Nothing is pulled from elsewhere.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { findFreePort } from "@svc/local-stack";
import { until } from "@svc/local-stack/testing";
import { PushResult } from "@svc/proto/build-job";
import { openRegistry } from "@svc/registry";
import { findBinary } from "@svc/registry/testing";
import { buildImage } from "./image/build.ts";
import { pushImage } from "./image/push.ts";
import { type TestBuild, testBuild } from "./testing/step.ts";

const lane = process.env["SVC_DOCKER_LANE"];
const program = findBinary("docker-registry");
const skip =
  lane === undefined
    ? "lane docker: SVC_DOCKER_LANE names no daemon"
    : program === undefined && "lane docker: docker-registry is not on PATH";

const docker = (...args: string[]) =>
  execFileSync("docker", ["--host", lane ?? "", ...args], { encoding: "utf8" }).trim();

/** A program with its libraries, below a folder. */
function copyProgram(path: string, to: string): void {
  const libraries =
    execFileSync("sh", ["-c", `ldd ${path} || true`], { encoding: "utf8" }).match(/\/\S+/g) ?? [];
  for (const one of [path, ...libraries]) {
    mkdirSync(join(to, dirname(one)), { recursive: true });
    copyFileSync(one, join(to, one));
  }
}

describe("in containers", { skip }, () => {
  const dir = mkdtempSync(join(tmpdir(), "svc-docker-"));
  const image = `svc-test/registry:${process.pid}`;
  const made: string[] = [image];
  let container = "";
  let host = "";

  before(async () => {
    host = `127.0.0.1:${await findFreePort()}`;
    const root = join(dir, "registry");
    copyProgram(program ?? "", root);
    mkdirSync(join(root, "tmp"));
    const storage = { filesystem: { rootdirectory: "/tmp/data" } };
    writeFileSync(
      join(root, "config.yml"),
      JSON.stringify({ version: 0.1, log: { level: "error" }, storage, http: { addr: host } }),
    );
    execFileSync("sh", ["-c", `tar -c -C ${root} . | docker --host ${lane} import - ${image}`]);
    // A network of its own would need rules of the machine's firewall.
    container = docker("run", "--detach", "--network=host", image, program ?? "", "serve", "/config.yml");
    await until(() => openRegistry({ host, plainHttp: true }).listRepositories(), 30_000, "the registry");
  });
  after(() => {
    if (container !== "") docker("rm", "--force", container);
    for (const one of made) {
      try {
        docker("rmi", "--force", one);
      } catch {
        // It was never there.
      }
    }
    rmSync(dir, { recursive: true, force: true });
  });

  const builders = ["assemble", ...(process.getuid?.() === 0 && findBinary("buildah") ? ["buildah"] : [])];
  for (const builder of builders)
    test(`an image of ${builder} is pulled by its digest from a registry in a container, and runs`, async () => {
      await using build: TestBuild = await testBuild({
        registry: { host, plain_http: true },
        image_ref: `${host}/packs/${builder}:1`,
      });
      build.env["SVC_BUILDER"] = builder;
      copyProgram("/bin/dash", build.at("context/root"));
      const run = builder === "buildah" ? 'RUN ["/bin/dash", "-c", "echo ran >/ran"]\n' : "COPY ran /ran\n";
      await build.put({
        "context/Dockerfile": `FROM scratch\nCOPY root /\n${run}ENV MOTD="The pack of Alice"\nENTRYPOINT ["/bin/dash", "-c"]\nCMD ["read line </ran; echo $MOTD $line"]\n`,
        "context/ran": "ran\n",
      });
      await build.run(buildImage);
      const { digest } = PushResult.parse(JSON.parse((await build.run(pushImage)) ?? ""));
      const pinned = `${host}/packs/${builder}@${digest}`;
      made.push(pinned);
      docker("pull", pinned);
      assert.equal(docker("run", "--rm", "--network=none", pinned), "The pack of Alice ran");
    });
});
