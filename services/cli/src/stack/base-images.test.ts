import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { baseImages } from "@svc/proto";
import { openRegistry, parseManifest } from "@svc/registry";
import { startTestRegistry } from "@svc/registry/testing";
import { publishBaseImages } from "./base-images.ts";

test("the demo server of each version is published once as an image whose configuration names its program", async () => {
  const { host, stop } = await startTestRegistry();
  try {
    const registry = openRegistry({ host, plainHttp: true });
    const { repository, tag, config } = baseImages.demoServerImage;
    const { signal } = new AbortController();
    await publishBaseImages({ host, password: "p".repeat(24), signal });
    const first = await registry.getManifest(repository, tag);
    await publishBaseImages({ host, password: "p".repeat(24), signal });
    assert.ok(first);
    const tags = baseImages.demoServerImages.map((image) => image.tag).sort();
    assert.deepEqual((await registry.listTags(repository)).sort(), tags);
    assert.equal((await registry.getManifest(repository, tag))?.digest, first.digest);
    const manifest = parseManifest(first);
    assert.ok(manifest.kind === "image");
    const read = async (blob: { digest: string; size: number }) => {
      const chunks: Buffer[] = [];
      for await (const chunk of registry.getBlob(repository, blob)) chunks.push(chunk);
      return Buffer.concat(chunks);
    };
    const image = JSON.parse(String(await read(manifest.config)));
    assert.deepEqual(image.config, config);
    const [layer] = manifest.layers;
    assert.ok(layer);
    const listed = execFileSync("tar", ["-tv"], { input: await read(layer), encoding: "utf8" });
    assert.match(listed, /^drwxr-xr-x 0\/0 .* data\/$/m);
  } finally {
    await stop();
  }
});
