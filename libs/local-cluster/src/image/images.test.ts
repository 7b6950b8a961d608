// Images of a registry: docker-registry where it is on PATH. An in-memory registry simulates faults.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { runsLabel } from "@svc/proto/base-image";
import { digestOf, mediaTypes } from "@svc/registry";
import { startMemoryRegistry, startTestRegistry, type TestRegistry } from "@svc/registry/testing";
import { file, type MadeImage, pushImage } from "../testing/push-image.ts";
import { createImages } from "./images.ts";
import type { ImageLimits } from "./pull.ts";
import { openImageStore } from "./store.ts";
import type { TableImage } from "./table.ts";

const scratch = mkdtempSync(join(tmpdir(), "svc-images-"));
after(() => rmSync(scratch, { recursive: true }));
const newFolder = () => mkdtempSync(join(scratch, "folder-"));
const never = new AbortController().signal;

const table: Record<string, TableImage> = {
  "game:1": {
    command: ["/bin/game"],
    env: { FROM_TABLE: "yes", MOTD: "plain" },
    base: { entrypoint: ["game"], env: ["MOTD"], data: "/data" },
  },
  "tool:1": { command: ["/bin/tool"] },
};

let registry: TestRegistry;
before(async () => {
  registry = await startTestRegistry();
});
after(() => registry.stop());

const labelled = { Labels: { [runsLabel]: "game:1" }, Entrypoint: ["game"] };
const push = (path: string, made: MadeImage = {}) =>
  pushImage(registry.host, path, { config: labelled, ...made });

type Opening = { dir?: string; host?: string; limits?: Partial<ImageLimits>; mostBytes?: number };

async function open({
  dir = newFolder(),
  host = registry.host,
  limits = {},
  mostBytes = 1 << 30,
}: Opening = {}) {
  const store = await openImageStore(dir, mostBytes);
  const findInTable = async (reference: string) => table[reference];
  return { dir, images: createImages({ findInTable, registry: host, store, limits }) };
}

const kept = (dir: string) => readdirSync(dir).map((name) => name.slice(0, 9));

describe("an image of the registry", () => {
  for (const packing of ["none", "gzip", "zstd"] as const) {
    test(`runs the program of its base with its own files and variables (layers: ${packing})`, async () => {
      const Env = ["PATH=/evil", "NODE_OPTIONS=--require /data/evil.js", "MOTD=a=b", "LD_PRELOAD=/data/x"];
      const layers = [
        [file("data/world/old")],
        [file("data/world/.wh.old"), file("data/world/new"), file("bin/sh")],
      ];
      const digest = await push(`packs/${packing}`, { layers, packing, config: { ...labelled, Env } });
      const { dir, images } = await open();
      const image = await images.find(`${registry.host}/packs/${packing}:1`, never);
      assert.deepEqual(image.command, ["/bin/game"]);
      assert.deepEqual(image.env, { FROM_TABLE: "yes", MOTD: "a=b" });
      assert.equal(image.id, `${registry.host}/packs/${packing}@${digest}`);
      assert.equal(image.data?.path, "/data");
      const volume = newFolder();
      await image.data?.fill(volume);
      assert.deepEqual(readdirSync(volume, { recursive: true }).sort(), ["world", "world/new"]);
      assert.deepEqual(readdirSync(dir), [digest.slice(7)]);
    });
  }

  test("that is known by its digest runs while the registry is down", async () => {
    const { host, stop } = await startMemoryRegistry();
    const digest = await pushImage(host, "packs/down", { config: labelled });
    const { dir, images } = await open({ host });
    await images.find(`${host}/packs/down:1@${digest}`, never);
    await stop();
    const later = await open({ dir, host });
    const found = await later.images.find(`${host}/packs/down:1@${digest}`, never);
    assert.equal(found.id, `${host}/packs/down@${digest}`);
    await assert.rejects(later.images.find(`${host}/packs/down:1`, never), /failed to pull/);
  });

  test("that many pods start at once is pulled once", async () => {
    const digest = await push("packs/once", { layers: [[file("data/a")]] });
    const { dir, images } = await open();
    const found = await Promise.all(
      Array.from({ length: 20 }, () => images.find(`${registry.host}/packs/once@${digest}`, never)),
    );
    assert.equal(new Set(found.map(({ id }) => id)).size, 1);
    assert.deepEqual(readdirSync(dir), [digest.slice(7)]);
  });

  const refused: Record<string, { made: MadeImage; reason: RegExp; limits?: Partial<ImageLimits> }> = {
    "without the label": {
      made: { config: { Entrypoint: ["game"] } },
      reason: /no label svc\.internal\/runs/,
    },
    "of an unknown base": {
      made: { config: { ...labelled, Labels: { [runsLabel]: "other:1" } } },
      reason: /built on "other:1", which this cluster can't run/,
    },
    "that names a program that is not a base": {
      made: { config: { ...labelled, Labels: { [runsLabel]: "tool:1" } } },
      reason: /built on "tool:1", which/,
    },
    "with its own ENTRYPOINT": {
      made: { config: { ...labelled, Entrypoint: ["/data/evil"] } },
      reason: /ENTRYPOINT or CMD of its own/,
    },
    "with a CMD": {
      made: { config: { ...labelled, Cmd: ["evil"] } },
      reason: /ENTRYPOINT or CMD of its own/,
    },
    "with a link in its data": {
      made: { layers: [[{ path: "data/a", type: "2", link: "/etc/passwd" }]] },
      reason: /failed to pull image ".*data\/a is rejected: it is a link/,
    },
    "whose layer differs from its configuration": {
      made: { layers: [[file("data/a")]], diffIds: [`sha256:${"0".repeat(64)}`] },
      reason: /does not unpack to sha256:0000/,
    },
    "with fewer layers than in its configuration": {
      made: { layers: [], diffIds: [`sha256:${"0".repeat(64)}`] },
      reason: /does not fit its manifest/,
    },
    "with more layers than allowed": {
      made: { layers: [[file("data/a")], [file("data/b")]] },
      limits: { layers: 1 },
      reason: /has 2 layers .* takes 1/,
    },
    "larger than allowed": {
      made: { layers: [[file("data/a")]] },
      limits: { packedBytes: 10 },
      reason: /1 layers of \d+ bytes; this cluster takes \d+ of 10/,
    },
  };
  for (const [what, { made, reason, limits }] of Object.entries(refused)) {
    test(`${what} is rejected with the reason and leaves nothing`, async () => {
      const path = `bad/${what.toLowerCase().replace(/[^a-z]+/g, "-")}`;
      await push(path, made);
      const { dir, images } = await open({ ...(limits && { limits }) });
      const finding = images.find(`${registry.host}/${path}:1`, never);
      await assert.rejects(finding, { name: "ImageError", message: reason });
      assert.deepEqual(readdirSync(dir), []);
    });
  }

  test("that is missing, or an invalid reference, is rejected", async () => {
    const { images } = await open();
    await assert.rejects(images.find(`${registry.host}/none:1`, never), {
      name: "ImageError",
      message: /has no image/,
    });
    const wrong = { name: "ImageError", isInvalidName: true };
    await assert.rejects(images.find(`${registry.host}/UPPER:1`, never), wrong);
    await assert.rejects(images.find(`${registry.host}/a/../../b:1`, never), wrong);
    await assert.rejects(images.find("elsewhere.example/a:1", never), /not in the image table/);
  });
});

describe("a registry that is down or sends wrong content", () => {
  /** Serves the manifest of a real image, and for blobs the response of `blob`. */
  async function lying(blob: (bytes: Buffer) => Buffer | undefined) {
    const config = Buffer.from(JSON.stringify({ config: labelled, rootfs: { diff_ids: [] } }));
    const about = { mediaType: mediaTypes.config, digest: digestOf(config), size: config.length };
    const manifest = JSON.stringify({ schemaVersion: 2, config: about, layers: [] });
    const server = createServer((request, response) => {
      if (request.url?.includes("/manifests/")) {
        response.setHeader("content-type", mediaTypes.manifest).end(manifest);
        return;
      }
      const bytes = blob(config);
      if (bytes !== undefined) response.end(bytes);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return {
      host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }

  test("is named in the reason when it refuses connections", async () => {
    const { images } = await open({ host: "127.0.0.1:1" });
    const failure = {
      name: "ImageError",
      message: /failed to pull image "127\.0\.0\.1:1\/a:1": the registry/,
    };
    await assert.rejects(images.find("127.0.0.1:1/a:1", never), failure);
  });

  test("cannot serve other bytes as an image", async () => {
    await using server = await lying((bytes) => Buffer.from(bytes.toString().replace("game:1", "tool:1")));
    const { dir, images } = await open({ host: server.host });
    await assert.rejects(images.find(`${server.host}/a:1`, never), /the registry sent sha256:.* for sha256:/);
    const pinned = `sha256:${createHash("sha256").update("x").digest("hex")}`;
    await assert.rejects(images.find(`${server.host}/a:1@${pinned}`, never), /the registry has sha256:/);
    assert.deepEqual(readdirSync(dir), []);
  });

  test("and hangs delays neither the stop of a pod nor the stop of the cluster", async () => {
    await using server = await lying(() => undefined);
    const { dir, images } = await open({ host: server.host });
    const stop = new AbortController();
    const stopped = images.find(`${server.host}/a:1`, stop.signal);
    const waiting = images.find(`${server.host}/a:1`, never);
    stop.abort(new Error("deleted"));
    await assert.rejects(stopped, /deleted/);
    const ended = assert.rejects(waiting);
    await images.close();
    await ended;
    assert.deepEqual(readdirSync(dir), []);
  });
});

describe("the stored images", () => {
  test("lose the rest of a killed pull and keep complete images", async () => {
    const dir = newFolder();
    const whole = await open({ dir });
    const digest = await push("packs/whole", { layers: [[file("data/a")]] });
    await whole.images.find(`${registry.host}/packs/whole:1`, never);
    mkdirSync(join(dir, ".partial-0123/files"), { recursive: true });
    writeFileSync(join(dir, ".partial-0123/layer"), "half");
    await open({ dir });
    assert.deepEqual(readdirSync(dir), [digest.slice(7)]);
  });

  test("stay below their limit: the most recently used one is kept, and a removed one is pulled again", async () => {
    const { dir, images } = await open({ mostBytes: 5_000 });
    const big = (name: string) =>
      push(`packs/${name}`, { layers: [[file(`data/${name}`, name.repeat(3_000))]] });
    const [first, second] = [await big("x"), await big("y")];
    await images.find(`${registry.host}/packs/x@${first}`, never);
    await images.find(`${registry.host}/packs/y@${second}`, never);
    assert.deepEqual(readdirSync(dir), [second.slice(7)]);
    const again = await images.find(`${registry.host}/packs/x@${first}`, never);
    const volume = newFolder();
    await again.data?.fill(volume);
    assert.equal(readFileSync(join(volume, "x"), "utf8").length, 3_000);
    assert.deepEqual(kept(dir), [first.slice(7, 16)]);
  });
});
