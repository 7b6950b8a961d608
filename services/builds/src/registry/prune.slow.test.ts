import assert from "node:assert/strict";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { fetchBytes, sendBytes } from "@svc/mesh";
import { faultOf } from "@svc/mesh/testing";
import { offsiteBuilds, registries, servers } from "@svc/proto";
import { digestOf, referrersTag } from "@svc/registry";
import { createRegistry } from "../image/registry.ts";
import { type Fixture, startFixture } from "../testing/fixture.ts";
import { type GatedRegistry, startGatedRegistry } from "../testing/gated-registry.ts";
import { type PruneDeps, pruneRegistry } from "./prune.ts";
import { namedBy, readKeepers } from "./sources.ts";

let gated: GatedRegistry;
let fixture: Fixture;
let used: string[] = [];

before(async () => {
  gated = await startGatedRegistry();
  const env = { SVC_REGISTRY_RESTORE_TOKEN: gated.credentials.platform };
  fixture = await startFixture([`registry.url=${gated.host}`], { env });
});
after(async () => {
  await fixture?.stop();
  await gated?.stop();
});
const { signal } = new AbortController();
const deps = (more: Partial<PruneDeps> = {}): PruneDeps => ({
  db: fixture.db,
  registry: gated.registry,
  readKeepers: () =>
    readKeepers({
      db: fixture.db,
      mesh: fixture.builds,
      host: gated.host,
      platformImages: [`${gated.host}/tools/scanner:1`],
    }),
  cache: { authorBytes: 1_000, bytes: 1_000, keepMs: 3_600_000 },
  onCached: () => undefined,
  now: Date.now,
  ...more,
});
const prune = (more: Partial<PruneDeps> = {}) => pruneRegistry(deps(more), { isDryRun: false, signal });
const has = async (path: string, reference: string) =>
  (await gated.registry.headManifest(path, reference)) !== undefined;

test("while the images of servers can't be read, nothing is deleted", async () => {
  await gated.pushOld("first/a", "1");
  assert.equal(await faultOf(prune()), "unavailable");
  assert.equal(await has("first/a", "1"), true);
  fixture.lifecycle.serve(servers.listImages, async (_context, { cursor }) =>
    cursor === undefined
      ? { items: [{ server: "a", images: used.slice(0, 1) }], next: "a" }
      : { items: [{ server: "b", images: used.slice(1) }] },
  );
});

test("the plan is a dry run, and the prune deletes what the plan named", async () => {
  const old = await gated.pushOld("packs/server", "1", "old");
  await gated.pushOld("packs/server", "1", "new");
  for (const path of ["packs/listed", "packs/off", "packs/building", "tools/scanner", "packs/loose"]) {
    await gated.pushOld(path, "1");
  }
  await gated.pushNow("packs/fresh", "1");
  const listed = await gated.registry.headManifest("packs/listed", "1");
  used = ["elsewhere/image:1", `${gated.host}/packs/server:gone@${old}`];
  const entry = (path: string, enabled: boolean) => ({
    image_ref: `${gated.host}/${path}`,
    added_by: "amelia",
    enabled,
  });
  await fixture.db
    .insertInto("image_whitelist")
    .values([entry("packs/listed:1", true), entry("packs/off:*", false)])
    .execute();
  const build = (id: string, image_ref: string) => ({
    id: id.repeat(32),
    image_ref,
    context_ref: "",
    requested_by: "amelia",
  });
  const ended = { status: "succeeded", finished_at: new Date(), image_digest: old } as const;
  await fixture.db
    .insertInto("image_builds")
    .values([
      build("a", `${gated.host}/packs/building:1`),
      { ...build("b", `${gated.host}/packs/server:1`), ...ended },
    ])
    .execute();
  const plan = await fixture.operator.call(registries.pruneRegistry, { dry_run: true });
  const refs = plan.deleted.map(({ ref }) => ref).sort();
  assert.deepEqual(refs, ["first/a:1", "packs/loose:1", "packs/server:1", "tools/scanner:1"]);
  assert.deepEqual(plan.kept, { server: 1, whitelist: 2, build: 1, recent: 1 });
  assert.equal(plan.dry_run, true);
  assert.equal(await has("packs/loose", "1"), true);
  const run = await prune();
  assert.deepEqual(run.deleted.map(({ ref }) => ref).sort(), [
    "first/a:1",
    "packs/loose:1",
    "packs/server:1",
  ]);
  for (const [path, tag] of [
    ["packs/loose", "1"],
    ["packs/server", "1"],
  ] as const) {
    assert.equal(await has(path, tag), false, path);
  }
  for (const path of ["packs/listed", "packs/off", "packs/building", "tools/scanner", "packs/fresh"]) {
    assert.equal(await has(path, "1"), true, path);
  }
  assert.equal(await has("packs/server", old), true);
  assert.equal((await gated.registry.headManifest("packs/listed", "1"))?.digest, listed?.digest);
  assert.equal((await prune()).deleted_count, 0);
});

test("what refers to an image stays with it and goes with it, its list under a tag too", async () => {
  const subjects = [
    await gated.pushOld("packs/listed", "2"),
    await gated.pushOld("packs/gone", "1"),
  ] as const;
  const paths = ["packs/listed", "packs/gone"] as const;
  const [kept, gone] = await Promise.all(
    paths.map((path, at) => gated.referOld(path, subjects[at] ?? "", "provenance")),
  );
  await fixture.db
    .insertInto("image_whitelist")
    .values({ image_ref: `${gated.host}/packs/listed:2`, added_by: "amelia" })
    .execute();
  const { deleted } = await prune();
  assert.deepEqual(
    deleted.map(({ ref }) => ref),
    [`packs/gone@${gone}`, `packs/gone:${referrersTag(subjects[1])}`, "packs/gone:1"],
  );
  assert.equal(await has("packs/listed", kept ?? ""), true);
  assert.equal(await has("packs/listed", referrersTag(subjects[0])), true);
  assert.equal(await has("packs/gone", referrersTag(subjects[1])), false);
});

test("layers for later builds stay within their bounds, those that were used last, and are not copied off-site", async () => {
  const author = "build-cache/one";
  const bytes = Buffer.byteLength(`layer a of ${author}`);
  await gated.pushOld(author, "a");
  for (const tag of ["b", "c", "d"]) await gated.pushNow(author, tag);
  await gated.pushNow("build-cache/two", "a");
  let left = -1;
  const about = {
    cache: { authorBytes: bytes * 2, bytes: bytes * 3, keepMs: 48 * 3_600_000 },
    onCached: (cached: number) => {
      left = cached;
    },
  };
  const plan = await pruneRegistry(deps(about), { isDryRun: true, signal });
  assert.deepEqual([plan.deleted_count, plan.kept["cache"], left], [2, 3, -1]);
  const { deleted } = await prune(about);
  assert.equal(deleted.length, 2);
  assert.ok(deleted.some(({ ref }) => ref === `${author}:a`));
  assert.deepEqual([left, await has("build-cache/two", "a")], [bytes * 3, true]);
  const { images } = await listForCopies();
  assert.deepEqual(
    images.filter(({ repository }) => repository.startsWith("build-cache/")),
    [],
  );
  await prune({ cache: { ...about.cache, bytes: 0 } });
  assert.equal(await has("build-cache/two", "a"), false);
});

test("a registry that fails in the middle of the reading loses nothing", async () => {
  await gated.pushOld("middle/a", "1");
  await gated.pushOld("middle/b", "1");
  let reads = 0;
  const { registry } = gated;
  const failing = {
    ...registry,
    getManifest: (...given: Parameters<typeof registry.getManifest>) => {
      reads += 1;
      if (reads === 2) throw new Error("the registry answered 500");
      return registry.getManifest(...given);
    },
  };
  await assert.rejects(prune({ registry: failing }), /answered 500/);
  assert.deepEqual([await has("middle/a", "1"), await has("middle/b", "1")], [true, true]);
});

test("a registry that does not say when an image was pushed is not pruned", async () => {
  const { registry } = gated;
  const silent = {
    ...registry,
    getManifest: async (...given: Parameters<typeof registry.getManifest>) => {
      const found = await registry.getManifest(...given);
      if (found) delete found.pushedAt;
      return found;
    },
  };
  await assert.rejects(prune({ registry: silent }), /does not say when .* was pushed/);
  assert.equal(await has("middle/a", "1"), true);
});

test("an image that is pushed again while a prune runs stays", async () => {
  const { registry } = gated;
  const racing = {
    ...registry,
    deleteManifest: async (...given: Parameters<typeof registry.deleteManifest>) => {
      if (given[0] === "middle/a") await gated.pushNow("middle/a", "1");
      return registry.deleteManifest(...given);
    },
  };
  const run = await prune({ registry: racing });
  assert.deepEqual(
    run.deleted.map(({ ref }) => ref),
    ["middle/b:1"],
  );
  assert.deepEqual([await has("middle/a", "1"), await has("middle/b", "1")], [true, false]);
});

test("of two prunes at once the second is refused and deletes nothing", async () => {
  await gated.pushOld("once/a", "1");
  const { registry } = gated;
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const slow = {
    ...registry,
    listRepositories: async (...given: Parameters<typeof registry.listRepositories>) => {
      reached.resolve();
      await gate.promise;
      return registry.listRepositories(...given);
    },
  };
  const first = prune({ registry: slow });
  await reached.promise;
  await assert.rejects(prune(), /Another prune runs/);
  gate.resolve();
  assert.equal((await first).deleted_count, 1);
  assert.equal((await prune()).deleted_count, 0);
});

test("a prune that ends in the middle is completed by the next", async () => {
  for (const tag of ["1", "2", "3"]) await gated.pushOld("ended/a", tag);
  const aborting = new AbortController();
  const { registry } = gated;
  const ending = {
    ...registry,
    deleteManifest: async (...given: Parameters<typeof registry.deleteManifest>) => {
      const deleted = await registry.deleteManifest(...given);
      aborting.abort(new Error("killed"));
      return deleted;
    },
  };
  const run = pruneRegistry(deps({ registry: ending }), { isDryRun: false, signal: aborting.signal });
  await assert.rejects(run, /killed/);
  const left = await Promise.all(["1", "2", "3"].map((tag) => has("ended/a", tag)));
  assert.equal(left.filter((isThere) => isThere).length, 2);
  assert.equal((await prune()).deleted_count, 2);
});

test("the gate says when the scanner's database was pushed, and nothing of one that is not there", async () => {
  const registry = createRegistry({ url: gated.host, timeout: 5_000 });
  const at = (path: string) => registry?.pushedAt({ path, tag: "2" }, signal);
  const before = Date.now();
  await gated.pushNow("mirror/trivy-db", "2");
  const pushed = (await at("mirror/trivy-db"))?.getTime() ?? 0;
  assert.ok(pushed >= before && pushed <= Date.now() + 1_000, `${pushed}`);
  assert.equal(await at("mirror/none"), undefined);
});

test("references of other hosts keep nothing, and a pinned one keeps tag and digest", () => {
  const digest = `sha256:${"a".repeat(64)}`;
  const named = (ref: string) => namedBy(ref, "registry:5000");
  assert.deepEqual(named("registry:5000/a/b"), [{ repository: "a/b", tag: "latest" }]);
  assert.deepEqual(named("registry:5000/a:*"), [{ repository: "a" }]);
  assert.deepEqual(named(`registry:5000/a@${digest}`), [{ repository: "a", digest }]);
  assert.deepEqual(named(`registry:5000/a:1@${digest}`), [
    { repository: "a", digest },
    { repository: "a", tag: "1" },
  ]);
  for (const ref of ["a/b:1", "other:5000/a:1", "not a reference"]) assert.equal(named(ref), undefined, ref);
});

async function listForCopies(): Promise<offsiteBuilds.OffsiteImages> {
  const { byteTransfer } = await fixture.operator.forward(offsiteBuilds.readImages, {});
  assert.ok(byteTransfer);
  const { body } = await fetchBytes(byteTransfer);
  return offsiteBuilds.OffsiteImages.parse(JSON.parse(await text(body)));
}

type Part = Parameters<typeof readPart>[0];
async function readPart(part: {
  repository: string;
  kind: "manifest" | "blob";
  digest: string;
  size_bytes: number;
}): Promise<Buffer> {
  const { byteTransfer } = await fixture.operator.forward(offsiteBuilds.readImagePart, part);
  assert.ok(byteTransfer);
  return Buffer.concat(await (await fetchBytes(byteTransfer)).body.toArray());
}

/** True when the registry did not have it. */
async function writePart(part: Part & { media_type?: string }, bytes: Buffer): Promise<boolean> {
  const { byteTransfer } = await fixture.operator.forward(offsiteBuilds.writeImagePart, part);
  if (!byteTransfer) return false;
  const body = (async function* () {
    yield Buffer.from(bytes);
  })();
  await sendBytes(byteTransfer, body, { contentLength: part.size_bytes });
  return true;
}

test("off-site copies get all images but the platform's own, and of those what is pinned", async () => {
  await gated.pushNow("copies/a", "1");
  const pinned = await gated.pushNow("svc/demo", "1", "pinned");
  await gated.pushNow("svc/demo", "2", "not pinned");
  used = [`${gated.host}/svc/demo:1@${pinned}`];
  const { configured, images, wanted } = await listForCopies();
  assert.equal(configured, true);
  const found = images.map(({ repository, tags }) => `${repository}:${tags.join(",")}`);
  assert.ok(found.includes("copies/a:1"), found.join(" "));
  assert.deepEqual(
    images
      .filter(({ repository }) => repository.startsWith("svc/"))
      .map(({ digest, tags }) => [digest, tags]),
    [[pinned, []]],
  );
  assert.ok(wanted.some(({ repository, digest }) => repository === "svc/demo" && digest === pinned));
});

test("an image leaves part by part and comes back, and a tag that names another image stays", async () => {
  await gated.pushNow("copies/b", "1", "wanted");
  const image = (await listForCopies()).images.find(({ repository }) => repository === "copies/b");
  assert.ok(image);
  const { digest, media_type, size_bytes, blobs } = image;
  const parts: (Omit<Part, "repository"> & { media_type?: string })[] = [
    ...blobs.map((blob) => ({ kind: "blob" as const, ...blob })),
    { kind: "manifest", digest, size_bytes, media_type },
  ];
  // Only the platform itself may write there.
  const repository = "svc/restored";
  for (const { media_type: type, ...part } of parts) {
    const bytes = await readPart({ repository: "copies/b", ...part });
    const target = { repository, ...part, ...(type && { media_type: type }) };
    assert.deepEqual([await writePart(target, bytes), await writePart(target, bytes)], [true, false]);
  }
  const other = await gated.pushNow(repository, "taken", "another");
  const answer = await fixture.operator.call(offsiteBuilds.tagImage, {
    ...{ repository, digest, tags: ["1", "taken"] },
  });
  assert.deepEqual(answer, { tagged: ["1"], kept: ["taken"] });
  assert.equal((await gated.registry.headManifest(repository, "1"))?.digest, digest);
  assert.equal((await gated.registry.headManifest(repository, "taken"))?.digest, other);
});

test("other bytes than those of the digest are not stored", async () => {
  const bytes = Buffer.from("the bytes of the digest");
  const part = {
    repository: "copies/c",
    kind: "blob" as const,
    digest: digestOf(bytes),
    size_bytes: bytes.length,
  };
  assert.equal(await faultOf(readPart(part)), "not_found");
  assert.equal(await faultOf(writePart(part, Buffer.from("tbe bytes of the digest"))), "digest_mismatch");
  assert.equal(await gated.registry.hasBlob("copies/c", part.digest), false);
  assert.equal(await writePart(part, bytes), true);
});
