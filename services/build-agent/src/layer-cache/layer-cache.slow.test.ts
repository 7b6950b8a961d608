// Builds of one author after the other in a real registry: what the first made is used by the second, byte for byte, and
// by nobody else's.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { PushResult } from "@svc/proto/build-job";
import { digestOf, mediaTypes, openRegistry, type Registry } from "@svc/registry";
import { findBinary, startTestRegistry, type TestRegistry } from "@svc/registry/testing";
import { openImageArchive } from "../image/archive.ts";
import { buildImage } from "../image/build.ts";
import { pushImage } from "../image/push.ts";
import { type TestBuild, testBuild } from "../testing/step.ts";
import { diffIdsIn, emptyConfig, entryOf } from "./entry.ts";

let peer: TestRegistry;
let registry: Registry;
before(async () => {
  peer = await startTestRegistry();
  registry = openRegistry({ host: peer.host, plainHttp: true });
});
after(() => peer?.stop());

const mods = randomBytes(3 << 20);
const dockerfile = "FROM scratch\nCOPY mods /data/mods/\nCOPY motd /data/motd\n";
let images = 0;

type About = { author?: string; motd: string; builder?: string };

/** An image of a pack whose mods are always the same. */
async function built({ author, motd, builder = "assemble" }: About): Promise<TestBuild> {
  images += 1;
  const build = await testBuild({
    registry: { host: peer.host, plain_http: true },
    image_ref: `${peer.host}/packs/cached-${images}:1`,
    ...(author !== undefined && { layer_cache: `build-cache/${author}` }),
  });
  build.env["SVC_BUILDER"] = builder;
  const files = { Dockerfile: dockerfile, "mods/large.jar": mods, motd };
  await build.put(
    Object.fromEntries(Object.entries(files).map(([path, content]) => [`context/${path}`, content])),
  );
  await build.run(buildImage);
  return build;
}

const pushed = async (build: TestBuild) => PushResult.parse(JSON.parse((await build.run(pushImage)) ?? ""));
const isReused = (build: TestBuild) => build.lines.some((line) => line.endsWith(", reused)"));
const archiveOf = async (build: TestBuild) =>
  createHash("sha256")
    .update(await readFile(build.at("image/image.tar")))
    .digest("hex");

test("the second build of an author takes the layers of the first, and its image is the one that it would have made", async () => {
  await using first = await built({ author: "one", motd: "first" });
  assert.deepEqual([isReused(first), (await pushed(first)).reused_bytes], [false, 0]);
  await using second = await built({ author: "one", motd: "second" });
  assert.equal(isReused(second), true);
  const { bytes, reused_bytes = 0 } = await pushed(second);
  // The registry of these tests without docker-registry can't mount a blob of another repository.
  if (peer.isReal)
    assert.ok(reused_bytes > mods.length && reused_bytes < bytes, `${reused_bytes} of ${bytes}`);
  await using alone = await built({ motd: "second" });
  assert.equal(await archiveOf(second), await archiveOf(alone));
  assert.equal(await registry.hasBlob("packs/cached-2", digestOf(await layerOf(second))), true);
});

test("another author's build finds nothing of it, sends everything and keeps its own", async () => {
  await using other = await built({ author: "two", motd: "first" });
  assert.deepEqual([isReused(other), (await pushed(other)).reused_bytes], [false, 0]);
  const entries = await Promise.all(
    ["one", "two", "three"].map((author) => registry.listTags(`build-cache/${author}`)),
  );
  assert.deepEqual(
    entries.map(({ length }) => length),
    [1, 1, 0],
  );
});

test("a build without a cache neither reads nor writes one", async () => {
  await using build = await built({ motd: "first" });
  const { reused_bytes } = await pushed(build);
  assert.deepEqual([isReused(build), reused_bytes], [false, undefined]);
});

describe("an entry that is not the layer it is named for is not used, and the image is right:", () => {
  const plain = Buffer.alloc(2 << 20, 1);
  const cases: Record<string, [content: Buffer, reason: RegExp]> = {
    "another layer": [gzipSync(plain), /is not used: it holds sha256:/],
    "one that does not end": [gzipSync(Buffer.alloc(64 << 20)), /is not used: it has more than \d+ bytes/],
    "no gzip": [Buffer.from("no gzip at all"), /is not used: incorrect header check/],
    "half a layer": [gzipSync(randomBytes(2 << 20)).subarray(0, 1 << 20), /is not used: unexpected end/],
  };
  for (const [what, [content, reason]] of Object.entries(cases))
    test(what, async () => {
      const author = `poisoned-${images}`;
      const path = `build-cache/${author}`;
      await using clean = await built({ motd: "clean" });
      const blob = { digest: digestOf(content), size: content.length };
      for (const bytes of [content, emptyConfig])
        await registry.putBlob(path, {
          ...{ digest: digestOf(bytes), size: bytes.length },
          open: () => Readable.from([bytes]),
        });
      const entry = {
        mediaType: mediaTypes.manifest,
        bytes: entryOf({ mediaType: mediaTypes.layerGzip, ...blob }),
      };
      const tag = (await diffIdOf(clean)).slice("sha256:".length);
      await registry.putManifest(path, tag, entry);
      await using build = await built({ author, motd: "clean" });
      assert.ok(
        build.lines.some((line) => reason.test(line)),
        build.lines.join("\n"),
      );
      assert.deepEqual([isReused(build), await archiveOf(build)], [false, await archiveOf(clean)]);
      await pushed(build);
      assert.equal((await registry.headManifest(path, tag))?.digest, digestOf(entry.bytes));
    });
});

test("while the registry fails, a build goes without what was kept", async () => {
  await using build = await built({ author: "one", motd: "first" });
  build.task.registry = { host: "127.0.0.1:1", plain_http: true };
  build.lines.length = 0;
  await build.run(buildImage);
  assert.deepEqual(
    [isReused(build), build.lines.filter((line) => /is not used/.test(line)).length],
    [false, 1],
  );
});

const buildah = process.getuid?.() === 0 ? findBinary("buildah") : undefined;
const skip = buildah && findBinary("docker-registry") ? false : "no buildah, no docker-registry, or not root";

test("layers of buildah are not sent twice for one author, and once for each author", { skip }, async () => {
  const about = { builder: "buildah", motd: "the same" };
  const results: PushResult[] = [];
  for (const author of ["three", "three", "four"]) {
    await using build = await built({ ...about, author });
    results.push(await pushed(build));
  }
  const [first, second, other] = results;
  assert.deepEqual([first?.reused_bytes, other?.reused_bytes], [0, 0]);
  assert.ok((second?.reused_bytes ?? 0) > mods.length);
  assert.equal(second?.digest, first?.digest);
});

async function layerOf(build: TestBuild): Promise<Buffer> {
  await using image = await openImageArchive(build.at("image/image.tar"));
  const [layer] = image.manifest.layers;
  assert.ok(layer);
  return image.read(layer);
}

async function diffIdOf(build: TestBuild): Promise<string> {
  await using image = await openImageArchive(build.at("image/image.tar"));
  return diffIdsIn(await image.read(image.manifest.config))[0] ?? "";
}
