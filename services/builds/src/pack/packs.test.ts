import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { faultOf, until } from "@svc/mesh/testing";
import { type Fault, submissions } from "@svc/proto";
import { makeZip } from "../../../../libs/world/src/testing.ts";
import { admin } from "../testing/fixture.ts";
import {
  author,
  contextOf,
  type SubmissionFixture,
  sha256Of,
  startSubmissionFixture,
  stranger,
} from "../testing/submissions.ts";

let fixture: SubmissionFixture;
before(async () => {
  const bases = 'builds.pack_bases=["fabric/1.21.4=svc/fabric:1.21.4"]';
  fixture = await startSubmissionFixture([bases, "builds.pack_max_bytes=1Mi"]);
});
after(() => fixture?.stop());

const filesOf = (id: string) => {
  try {
    return readdirSync(join(fixture.folder, id));
  } catch {
    return [];
  }
};

describe("a pack without a Dockerfile", () => {
  const jar = { path: "mods/lithium.jar", hashes: { sha512: "d".repeat(128) }, fileSize: 1_000 };
  const indexOf = (more: Record<string, unknown> = {}) =>
    JSON.stringify({
      ...{ formatVersion: 1, game: "minecraft", versionId: "1", name: "Cliffs" },
      files: [{ ...jar, downloads: ["https://cdn.modrinth.com/data/x/lithium.jar"] }],
      dependencies: { minecraft: "1.21.4", "fabric-loader": "0.16.9" },
      ...more,
    });
  const mrpack = (more: Parameters<typeof makeZip>[0] = [], index = indexOf()) =>
    makeZip([
      { name: "modrinth.index.json", content: index, deflate: true },
      { name: "overrides/server.properties", content: "motd=Cliffs\n", deflate: true },
      { name: "overrides/config/large.bin", content: Buffer.alloc(300_000, "x"), deflate: true },
      ...more,
    ]);
  const page = { limit: 20, offset: 0 };

  test("becomes a context whose Dockerfile and downloads are reviewed and approved with it", async () => {
    const one = await fixture.submit(mrpack());
    assert.equal(one.pack_format, "modrinth");
    const { bytes } = await fixture.download(one.id);
    assert.equal(sha256Of(bytes), one.context_sha256);
    const { entries } = await fixture.gateway.call(
      submissions.listContextEntries,
      { id: one.id, ...page },
      admin,
    );
    assert.deepEqual(
      entries.map(({ path }) => path),
      ["Dockerfile", "pack.json", "server/config/large.bin", "server/server.properties"],
    );
    const pack = await fixture.gateway.call(submissions.readPack, { id: one.id, ...page }, admin);
    assert.deepEqual(
      await fixture.gateway.call(submissions.readOwnPack, { id: one.id, ...page }, author),
      pack,
    );
    assert.match(pack.dockerfile, /^FROM 127\.0\.0\.1:5000\/svc\/fabric:1\.21\.4\n/);
    assert.deepEqual(
      [pack.downloads.map(({ path }) => path), pack.downloads_total, pack.download_bytes, pack.hosts],
      [["mods/lithium.jar"], 1, 1_000, ["cdn.modrinth.com"]],
    );
    assert.equal(pack.source_sha256, sha256Of(mrpack()));
    const as = { id: one.id, ...page };
    assert.equal(await faultOf(fixture.gateway.call(submissions.readOwnPack, as, stranger)), "not_found");
    await until(() => filesOf(one.id).length === 2);
    await fixture.approve(one.id, one.context_sha256 ?? "");
    const built = fixture.db.selectFrom("image_builds").selectAll().where("submission_id", "=", one.id);
    assert.equal((await built.executeTakeFirstOrThrow()).dockerfile, pack.dockerfile);
  });
  test("has the same digest each time, in one request and in parts, and gives way to another upload", async () => {
    const one = await fixture.submit(mrpack());
    const { id } = await fixture.create();
    const zip = mrpack();
    await fixture.putPart({ id, offset: 0 }, zip.subarray(0, 1));
    await fixture.putPart({ id, offset: 1 }, zip.subarray(1));
    const other = await fixture.complete(id);
    assert.deepEqual([other.context_sha256, other.pack_format], [one.context_sha256, "modrinth"]);
    assert.deepEqual(await fixture.complete(id), other, "a repeat has the answer of the first");
    const plain = await fixture.upload(id, contextOf({}));
    assert.equal(plain.pack_format, undefined);
    const reading = fixture.gateway.call(submissions.readPack, { id, ...page }, admin);
    assert.equal(await faultOf(reading), "not_found");
    await until(() => filesOf(id).length === 2);
  });

  const refused: [fact: string, bytes: () => Buffer, message: RegExp][] = [
    ["that is cut", () => mrpack().subarray(0, -30), /cannot be extracted/],
    ["that is not a pack", () => makeZip([{ name: "readme.txt" }]), /modrinth\.index\.json/],
    ["with a Dockerfile", () => mrpack([{ name: "Dockerfile" }]), /\.tar\.gz/],
    ["whose entry goes up", () => mrpack([{ name: "overrides/../../x" }]), /must not go up/],
    ["with a link", () => mrpack([{ name: "overrides/l", content: "/etc", mode: 0o120777 }]), /a link/],
    [
      "whose entry comes twice",
      () => mrpack([{ name: "overrides/./server.properties" }]),
      /server\.properties/,
    ],
    [
      "whose entry is longer than it says",
      () => mrpack([{ name: "overrides/x", content: "xyz", deflate: true, claims: { size: 1 } }]),
      /overrides\/x/,
    ],
    [
      "with an index that is too long",
      () => mrpack([], `${" ".repeat(9 << 20)}${indexOf()}`),
      /at most 8388608 bytes/,
    ],
    [
      "for a loader without a base",
      () => mrpack([], indexOf({ dependencies: { minecraft: "1" } })),
      /no base image/,
    ],
    [
      "that is too large",
      () => mrpack([{ name: "overrides/r", content: randomBytes(1 << 20) }]),
      /at most 1048576/,
    ],
  ];
  for (const [fact, bytes, message] of refused)
    test(`${fact} is refused, and nothing of it stays`, async () => {
      const { id } = await fixture.create();
      await assert.rejects(fixture.upload(id, bytes()), (error: Fault) => {
        assert.equal(error.fault, "bad_request", String(error));
        assert.match(error.message, message);
        return true;
      });
      assert.deepEqual(filesOf(id), []);
      assert.equal((await fixture.find(id))?.context_sha256, undefined);
    });
});
