// A context becomes an image in a real registry: fetched, assembled, scanned where Trivy is there, judged, pushed.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { gunzipSync, gzipSync } from "node:zlib";
import { defaultCacheDirs, findTrivy } from "@svc/local-stack";
import { PushResult, pushTagOf, Verdict, verdictMark } from "@svc/proto/build-job";
import { digestOf, mediaTypes, openRegistry, parseManifest, type Registry } from "@svc/registry";
import { findBinary, startTestRegistry, type TestRegistry } from "@svc/registry/testing";
import { readTarAs } from "@svc/world";
import { makeTar } from "../../../libs/world/src/testing.ts";
import { runScanGate } from "./gate/scan-gate.ts";
import { openImageArchive } from "./image/archive.ts";
import { buildImage } from "./image/build.ts";
import { pushImage } from "./image/push.ts";
import { convertToSbom } from "./scanner/sbom.ts";
import { scanImage } from "./scanner/scan.ts";
import { serve, type TestBuild, testBuild } from "./testing/step.ts";

let peer: TestRegistry;
let registry: Registry;
before(async () => {
  peer = await startTestRegistry();
  registry = openRegistry({ host: peer.host, plainHttp: true });
});
after(() => peer?.stop());

const inRegistry = (image = "packs/one:1") => ({
  registry: { host: peer.host, plain_http: true },
  image_ref: `${peer.host}/${image}`,
});

/** All builds of the tests have the same id. */
const pushTag = pushTagOf("b".repeat(32));

async function built(files: Record<string, string>, dockerfile: string): Promise<TestBuild> {
  const build = await testBuild(inRegistry());
  const entries = Object.entries({ ...files, Dockerfile: dockerfile });
  await build.put(Object.fromEntries(entries.map(([path, text]) => [`context/${path}`, text])));
  await build.run(buildImage);
  return build;
}

/** `path kind mode uid:gid`, with the target of a link, of each layer. */
async function layersOf(build: TestBuild): Promise<string[][]> {
  await using image = await openImageArchive(build.at("image/image.tar"));
  const layers: string[][] = [];
  for (const layer of image.manifest.layers) {
    const plain = gunzipSync(await image.read(layer));
    const entries: string[] = [];
    const whole = (async function* () {
      yield plain;
    })();
    for await (const { path, type, mode, target } of readTarAs(whole, (header) => header))
      entries.push(`${path} ${type} ${mode.toString(8)}${target ? ` ${target}` : ""}`);
    layers.push(entries);
  }
  return layers;
}

async function configOf(build: TestBuild): Promise<{ config: Record<string, unknown> }> {
  await using image = await openImageArchive(build.at("image/image.tar"));
  return JSON.parse((await image.read(image.manifest.config)).toString());
}

describe("an assembled image", () => {
  test("has a layer for each COPY and the configuration of the Dockerfile", async () => {
    await using build = await built(
      {
        "world/level.dat": "level",
        "world/region/r.mca": "r",
        "mods/a.jar": "a",
        "mods/b.txt": "b",
        motd: "m",
      },
      `# syntax=docker/dockerfile:1
ARG VERSION=1.2
FROM scratch
ARG VERSION
ENV MOTD="A \${VERSION} server" MAX_PLAYERS=5
LABEL pack=demo \\
  # a comment within
  version=$VERSION
WORKDIR /data
COPY world ./world/
COPY --chown=1000:1000 --chmod=640 mods/*.jar motd /data/mods/
ADD ["motd", "motd copy"]
USER 1000
EXPOSE 25565 25565/udp
VOLUME /data/logs
ENTRYPOINT ["java", "-jar", "server.jar"]
CMD ["nogui"]
`,
    );
    assert.deepEqual(await layersOf(build), [
      [
        "data/ 5 755",
        "data/world/ 5 755",
        "data/world/level.dat 0 644",
        "data/world/region/ 5 755",
        "data/world/region/r.mca 0 644",
      ],
      ["data/mods/ 5 755", "data/mods/a.jar 0 640", "data/mods/motd 0 640"],
      ["data/motd copy 0 644"],
    ]);
    assert.deepEqual((await configOf(build)).config, {
      Env: ["MOTD=A 1.2 server", "MAX_PLAYERS=5"],
      Labels: { pack: "demo", version: "1.2" },
      WorkingDir: "/data",
      User: "1000",
      ExposedPorts: { "25565/tcp": {}, "25565/udp": {} },
      Volumes: { "/data/logs": {} },
      Entrypoint: ["java", "-jar", "server.jar"],
      Cmd: ["nogui"],
    });
  });

  test("is the same for the same files, whenever it is built", async () => {
    const dockerfile = "FROM scratch\nCOPY . /app/\n";
    await using one = await built({ "b.txt": "b", "a/c.txt": "c" }, dockerfile);
    await using other = await built({ "a/c.txt": "c", "b.txt": "b" }, dockerfile);
    assert.deepEqual(
      createHash("sha256")
        .update(await readFile(one.at("image/image.tar")))
        .digest("hex"),
      createHash("sha256")
        .update(await readFile(other.at("image/image.tar")))
        .digest("hex"),
    );
  });

  test("leaves out what .dockerignore names, and takes exceptions back in", async () => {
    await using build = await built(
      {
        ".dockerignore": "# note\n**/*.log\nsecret\n!secret/keep.txt\nDockerfile\n.dockerignore\n",
        "a.log": "",
        "deep/b.log": "",
        "deep/c.txt": "",
        "secret/key": "",
        "secret/keep.txt": "",
      },
      "FROM scratch\nCOPY . /\n",
    );
    assert.deepEqual(await layersOf(build), [
      ["deep/ 5 755", "deep/c.txt 0 644", "secret/ 5 755", "secret/keep.txt 0 644"],
    ]);
  });

  test("stands on an image of the registry, whose links and folders targets follow", async () => {
    await using base = await testBuild(inRegistry("base:1"));
    await base.put({
      "context/Dockerfile": 'FROM scratch\nENV A=1\nCMD ["base"]\nLABEL runs=demo\nCOPY . /\n',
    });
    await mkdir(base.at("context/srv/data"), { recursive: true });
    await symlink("srv/data", base.at("context/data"));
    await base.run(buildImage);
    await base.run(pushImage);
    await using build = await built(
      { motd: "m" },
      `FROM ${peer.host}/base:${pushTag}\nENV B=$A\nCOPY motd /data\n`,
    );
    const layers = await layersOf(build);
    assert.equal(layers.length, 2);
    assert.deepEqual(layers[1], ["srv/data/motd 0 644"]);
    const { config } = await configOf(build);
    assert.deepEqual(config, { Env: ["A=1", "B=1"], Cmd: ["base"], Labels: { runs: "demo" } });
  });
});

test("ADD unpacks a tar, plain or as gzip, and copies what only looks like one", async () => {
  await using build = await testBuild(inRegistry());
  const pack = makeTar([
    { path: "mods/a.jar", content: "a" },
    { path: "latest", type: "2", link: "mods/a.jar" },
  ]);
  await build.put({
    "context/Dockerfile":
      "FROM scratch\nADD plain.tar /one\nADD packed.tgz /two/\nADD notes.gz half.gz /three/\n",
    "context/plain.tar": pack,
    "context/packed.tgz": gzipSync(pack),
    "context/notes.gz": gzipSync("notes"),
    "context/half.gz": gzipSync(pack).subarray(0, 20),
  });
  await build.run(buildImage);
  assert.deepEqual(await layersOf(build), [
    ["one/ 5 755", "one/latest 2 777 mods/a.jar", "one/mods/ 5 755", "one/mods/a.jar 0 644"],
    ["two/ 5 755", "two/latest 2 777 mods/a.jar", "two/mods/ 5 755", "two/mods/a.jar 0 644"],
    ["three/ 5 755", "three/half.gz 0 644", "three/notes.gz 0 644"],
  ]);
});

describe("a Dockerfile that this builder can't build fails by its line", () => {
  const cases: Record<string, [dockerfile: string, message: RegExp]> = {
    "RUN names the setting": ["FROM scratch\nRUN id\n", /line 2: RUN: .*executes nothing.*builds\.builder/],
    "a second stage": ["FROM scratch AS a\nFROM scratch\n", /line 2: FROM: .*second stage/],
    "COPY --from": ["FROM scratch\nCOPY --from=a /b /c\n", /--from.*builds\.builder/],
    "a heredoc": ["FROM scratch\nCOPY <<EOF /a\nhello\nEOF\n", /texts in the Dockerfile/],
    "ADD of a URL": ["FROM scratch\nADD https://example.org/x /x\n", /nothing is downloaded/],
    "ADD of an unknown archive": ["FROM scratch\nADD pack.txz /x\n", /unpacks no xz.*builds\.builder/],
    "ADD of an archive that leads out": [
      "FROM scratch\nADD pack.tgz /x\n",
      /line 2: ADD: .*\.\.\/x is rejected/,
    ],
    "a name in --chown": ["FROM scratch\nCOPY --chown=me a /a\n", /numbers such as 1000:1000/],
    "a source outside": ["FROM scratch\nCOPY ../../../etc/passwd /x\n", /is not in the context/],
    "a link out": ["FROM scratch\nCOPY out /x\n", /is not in the context/],
    "a missing source": ["FROM scratch\nCOPY none /x\n", /line 2: COPY: none is not in the context/],
    "several sources to a file": ["FROM scratch\nCOPY a* /x\n", /must end with a slash/],
    "a file as a folder": ["FROM scratch\nCOPY a /x\nCOPY ab /x/y\n", /\/x is not a folder/],
    "an image of elsewhere": ["FROM docker.io/library/alpine:3\n", /only its images and scratch/],
    "an image without a host": ["FROM alpine\n", /only its images and scratch/],
    "an unknown instruction": ["FROM scratch\nFOO bar\n", /line 2: FOO/],
    "no FROM": ["# nothing\n", /no FROM/],
    "COPY before FROM": ["COPY a /a\n", /first instruction must be FROM/],
    "an open quote": ['FROM scratch\nENV A="b\n', /quote is not closed/],
  };
  for (const [what, [dockerfile, message]] of Object.entries(cases)) {
    test(what, async () => {
      await using build = await testBuild(inRegistry());
      await build.put({
        "context/Dockerfile": dockerfile,
        "context/a": "a",
        "context/ab": "ab",
        "context/pack.tgz": gzipSync(makeTar([{ path: "../x", content: "x" }])),
        "context/pack.txz": Buffer.from("fd377a585a0000", "hex"),
      });
      await symlink("/etc/passwd", build.at("context/out"));
      await assert.rejects(build.run(buildImage), { name: "StepFailure", message });
    });
  }
  test("a base that the registry lacks", async () => {
    await using build = await testBuild(inRegistry());
    await build.put({ "context/Dockerfile": `FROM ${peer.host}/none:1\n` });
    await assert.rejects(build.run(buildImage), /line 1: FROM: .*none:1 is not in the registry/);
  });
});

describe("a base from a registry that misbehaves", () => {
  const config = Buffer.from(
    JSON.stringify({
      architecture: "amd64",
      os: "linux",
      config: {},
      rootfs: { diff_ids: [`sha256:${"1".repeat(64)}`] },
    }),
  );
  const layer = gzipSync(makeTar([{ path: "a", content: "a" }]));
  const blob = (mediaType: string, bytes: Buffer) => ({
    mediaType,
    digest: digestOf(bytes),
    size: bytes.length,
  });
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      config: blob(mediaTypes.config, config),
      layers: [blob(mediaTypes.layerGzip, layer)],
    }),
  );
  const cases: Record<string, [given: Buffer, message: RegExp]> = {
    "another layer of the same length": [Buffer.alloc(layer.length, 1), /sent sha256:/],
    "half a layer": [layer.subarray(0, 20), /sent 20 of the/],
    "more than the layer": [Buffer.concat([layer, layer]), /more than the/],
  };
  for (const [what, [given, message]] of Object.entries(cases))
    test(`that sends ${what} fails the build, and leaves no image`, async () => {
      await using face = await serve((request, response) => {
        const isManifest = request.url?.includes("/manifests/");
        const isConfig = request.url?.includes(digestOf(config));
        response.setHeader("content-type", isManifest ? mediaTypes.manifest : "application/octet-stream");
        response.end(isManifest ? manifest : isConfig ? config : given);
      });
      const { host } = new URL(face.url);
      await using build = await testBuild({ registry: { host, plain_http: true } });
      await build.put({ "context/Dockerfile": `FROM ${host}/base:1\n` });
      await assert.rejects(build.run(buildImage), { name: "StepFailure", message });
      assert.deepEqual([await readdir(build.at("image")), await readdir(build.at("tmp"))], [[], []]);
    });
});

describe("the push", () => {
  test("stores what was built; skopeo reads the same digest", async (t) => {
    await using build = await built({ a: "a" }, "FROM scratch\nCOPY a /a\n");
    const { digest, bytes, tag } = PushResult.parse(JSON.parse((await build.run(pushImage)) ?? ""));
    assert.equal(tag, pushTag);
    const stored = await registry.getManifest("packs/one", pushTag);
    assert.equal(stored?.digest, digest);
    assert.equal(
      await registry.headManifest("packs/one", "1"),
      undefined,
      "the tag itself is given by builds",
    );
    const manifest = stored && parseManifest(stored);
    assert.ok(manifest?.kind === "image");
    const sizes = [manifest.config, ...manifest.layers].map(({ size }) => size);
    assert.equal(
      bytes,
      sizes.reduce((sum, size) => sum + size, stored?.bytes.length ?? 0),
    );
    assert.deepEqual(JSON.parse((await build.run(pushImage)) ?? ""), { digest, bytes, tag });
    const skopeo = findBinary("skopeo");
    if (!skopeo || !peer.isReal)
      return t.diagnostic("skopeo or docker-registry is not on PATH: not compared");
    const args = ["inspect", "--tls-verify=false", `docker://${peer.host}/packs/one:${pushTag}`];
    const { stdout } = await promisify(execFile)(skopeo, args);
    assert.equal(JSON.parse(stdout).Digest, digest);
  });
  test("of an archive that is cut or not one image fails", async () => {
    await using build = await built({ a: "a" }, "FROM scratch\nCOPY a /a\n");
    const whole = await readFile(build.at("image/image.tar"));
    for (const bytes of [
      whole.subarray(0, 1_500),
      whole.subarray(0, whole.length - 2_048),
      Buffer.alloc(0),
      Buffer.alloc(1_024),
      makeTar([{ path: "index.json", content: "{}" }]),
    ]) {
      await writeFile(build.at("image/image.tar"), bytes);
      await assert.rejects(build.run(pushImage), /image archive|manifest is invalid/);
    }
  });
  test("to another registry than the platform's is refused", async () => {
    await using build = await built({ a: "a" }, "FROM scratch\nCOPY a /a\n");
    build.task.image_ref = "127.0.0.1:9/packs/one:1";
    await assert.rejects(build.run(pushImage), /not a tag in the registry/);
  });
});

const repo = join(import.meta.dirname, "../../..");
const trivy = await findTrivy({ env: process.env, cacheDirs: defaultCacheDirs(process.env, repo) });

describe("with Trivy", {
  skip: trivy === undefined ? "no Trivy on PATH, in SVC_TRIVY or in the cache" : false,
}, () => {
  test("a secret in the image blocks it, and an accepted one does not", async () => {
    const key = `AWS_ACCESS_KEY_ID=AKIA${"IOSFODNN7EXAMPLA"}\n`;
    await using build = await built(
      {
        "app/secrets.env": key,
        "app/node_modules/lodash/package.json": '{"name":"lodash","version":"4.17.20"}',
      },
      "FROM scratch\nCOPY app /app\n",
    );
    build.env["SVC_TRIVY"] = trivy ?? "";
    await build.run(scanImage);
    await build.run(convertToSbom);
    assert.equal(JSON.parse(await build.text("reports", "sbom.cdx.json")).bomFormat, "CycloneDX");
    await assert.rejects(build.run(runScanGate), /blocked the image: 1 CRITICAL \(aws-access-key-id\)/);
    const line = build.lines.find((text) => text.startsWith(verdictMark)) ?? "";
    const { summary } = Verdict.parse(JSON.parse(line.slice(verdictMark.length)));
    assert.deepEqual([summary.blocked, summary.packages, summary.database_at], [true, 1, undefined]);
    assert.doesNotMatch(line, /AKIA/);
    build.task.policy.accept = ["aws-access-key-id"];
    await build.run(runScanGate);
    await rm(build.at("reports/report.json"));
    await convertFails(build);
  });
});

async function convertFails(build: TestBuild): Promise<void> {
  await build.run(convertToSbom);
  await assert.rejects(build.text("reports", "sbom.cdx.json"), /ENOENT/);
  assert.match(build.lines.at(-1) ?? "", /there is no SBOM/);
}

const buildah = process.getuid?.() === 0 ? findBinary("buildah") : undefined;

describe("with buildah", { skip: buildah ? false : "buildah is not on PATH, or this is not root" }, () => {
  test("a context is built, and the image is pushed", async () => {
    await using build = await testBuild(inRegistry("packs/buildah:1"));
    build.env["SVC_BUILDER"] = "buildah";
    await build.put({ "context/Dockerfile": "FROM scratch\nCOPY a /a\n", "context/a": "a" });
    await chmod(build.at("context/a"), 0o644);
    await build.run(buildImage);
    const { digest } = JSON.parse((await build.run(pushImage)) ?? "");
    assert.equal((await registry.headManifest("packs/buildah", pushTag))?.digest, digest);
    await build.put({ "context/Dockerfile": "FROM scratch\nCOPY none /a\n" });
    await assert.rejects(build.run(buildImage), { name: "StepFailure", message: /none/ });
  });
});
