import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { faultOf } from "@svc/mesh/testing";
import { images } from "@svc/proto";
import { mediaTypes, openRegistry } from "@svc/registry";
import { startTestRegistry, type TestRegistry } from "@svc/registry/testing";
import { admin, type Fixture, startFixture } from "../testing/fixture.ts";

let fixture: Fixture;
let registry: TestRegistry;

before(async () => {
  registry = await startTestRegistry();
  fixture = await startFixture([`registry.url=${registry.host}`]);
});
after(async () => {
  await fixture?.stop();
  await registry?.stop();
});

const add = (image_ref: string) => fixture.gateway.call(images.addImage, { image_ref }, admin);

describe("versions of the game", () => {
  const versions = (repository: string) => fixture.lifecycle.call(images.listVersions, { repository });
  const labelled = (version: unknown) => ({ config: { Labels: { "svc.internal/version": version } } });

  test("the label of an image in the registry says it, the tag of any other", async () => {
    const at = `${registry.host}/versions/game`;
    const digest = await registry.push("versions/game", "stable", labelled("1.21.1"));
    const client = openRegistry({ host: registry.host, plainHttp: true });
    const head = await client.headManifest("versions/game", digest);
    const list = { schemaVersion: 2, mediaType: mediaTypes.index, manifests: [head] };
    await client.putManifest("versions/game", "many", {
      ...{ mediaType: mediaTypes.index, bytes: Buffer.from(JSON.stringify(list)) },
    });
    await registry.push("versions/game", "1.21.4");
    await registry.push("versions/game", "odd", labelled(["1.21.4"]));
    for (const tag of ["stable", "many", "1.21.4", "odd", "missing", "*"]) await add(`${at}:${tag}`);
    for (const other of [`${at}-more:1`, "svc.local/game:1.21.5", "svc.local/game:*"]) await add(other);
    await add(`${at}:off`);
    await fixture.db
      .updateTable("image_whitelist")
      .set({ enabled: false })
      .where("image_ref", "=", `${at}:off`)
      .execute();
    const found = (await versions(at)).images.map(({ image_ref, version }) => [image_ref, version]);
    assert.deepEqual(found.sort(), [
      [`${at}:1.21.4`, "1.21.4"],
      [`${at}:many`, "1.21.1"],
      [`${at}:missing`, "missing"],
      [`${at}:odd`, "odd"],
      [`${at}:stable`, "1.21.1"],
    ]);
    const local = { image_ref: "svc.local/game:1.21.5", version: "1.21.5" };
    assert.deepEqual(await versions("svc.local/game"), { images: [local] });
    assert.deepEqual(await versions("svc.local/%"), { images: [] });
    assert.equal(await faultOf(versions("")), "bad_request");
  });
  test("a tag that names another image now has that image's version", async () => {
    const at = `${registry.host}/versions/moving`;
    await add(`${at}:latest`);
    for (const version of ["1.21.1", "26.1"]) {
      await registry.push("versions/moving", "latest", labelled(version));
      assert.deepEqual((await versions(at)).images, [{ image_ref: `${at}:latest`, version }]);
    }
  });
});
