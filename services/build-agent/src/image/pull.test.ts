import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openRegistry } from "@svc/registry";
import { startTestRegistry, type TestRegistry } from "@svc/registry/testing";
import { testBuild } from "../testing/step.ts";
import { openImageArchive } from "./archive.ts";
import { pullImage } from "./pull.ts";

let registry: TestRegistry;
before(async () => {
  registry = await startTestRegistry();
});
after(() => registry?.stop());

const taskOf = (image_digest?: string) => ({
  image_ref: `${registry.host}/packs/a:1`,
  registry: { host: registry.host, plain_http: true },
  ...(image_digest !== undefined && { image_digest }),
});

test("the image of the digest is pulled as it is, also when its tag has moved on", async () => {
  const digest = await registry.push("packs/a", "1");
  await registry.push("packs/a", "1");
  await using build = await testBuild(taskOf(digest));
  await build.run(pullImage);
  await using image = await openImageArchive(build.at("image", "image.tar"));
  assert.equal(image.raw.digest, digest);
  const stored = await openRegistry({ host: registry.host, plainHttp: true }).getManifest("packs/a", digest);
  assert.deepEqual(image.raw.bytes, stored?.bytes);
  for (const blob of [image.manifest.config, ...image.manifest.layers])
    assert.equal((await image.read(blob)).length, blob.size);
});

test("an image that is not there, and one without a digest, fail with a reason", async () => {
  await using missing = await testBuild(taskOf(`sha256:${"0".repeat(64)}`));
  await assert.rejects(missing.run(pullImage), { name: "StepFailure", message: /is not in the registry/ });
  await using unnamed = await testBuild(taskOf());
  await assert.rejects(unnamed.run(pullImage), {
    name: "StepFailure",
    message: /not an image with a digest/,
  });
});
