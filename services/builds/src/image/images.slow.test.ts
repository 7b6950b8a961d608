import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, describe, test } from "node:test";
import { faultOf, until } from "@svc/mesh/testing";
import { images, provenances, servers } from "@svc/proto";
import { parseReference } from "@svc/registry";
import { startTestRegistry, type TestRegistry } from "@svc/registry/testing";
import { statementOf } from "../build/statement.ts";
import { admin, type Fixture, startFixture } from "../testing/fixture.ts";
import { createRegistry } from "./registry.ts";

let fixture: Fixture;
let registry: TestRegistry;

before(async () => {
  registry = await startTestRegistry();
  fixture = await startFixture([`registry.url=${registry.host}`, "builds.list_page=2"]);
});
after(async () => {
  await fixture?.stop();
  await registry?.stop();
});
beforeEach(async () => {
  await fixture.db.deleteFrom("image_whitelist").execute();
});

const add = (image_ref: string) => fixture.gateway.call(images.addImage, { image_ref }, admin);
const remove = (ref: string) => fixture.gateway.call(images.removeImage, { ref }, admin);
const admit = (image_ref: string) => fixture.lifecycle.call(images.admitImage, { image_ref });

describe("the list", () => {
  test("an added image is there with who added it, and told to the audit log", async () => {
    const image = await add("itzg/minecraft-server:java21");
    const { added_at, ...rest } = image;
    assert.deepEqual(rest, {
      image_ref: "itzg/minecraft-server:java21",
      source: "external",
      added_by: "usr-admin",
      enabled: true,
    });
    assert.ok(Math.abs(Date.parse(added_at) - Date.now()) < 60_000);
    assert.deepEqual((await fixture.gateway.call(images.listImages, {}, admin)).items, [image]);
    await until(() => fixture.audits.some(({ action }) => action === "image.add"));
    const entry = fixture.audits.find(({ action }) => action === "image.add");
    assert.equal(entry?.actor_user_id, "usr-admin");
    assert.deepEqual(entry?.payload, { image_ref: "itzg/minecraft-server:java21", source: "external" });
  });
  test("an image that is added again keeps who added it first and is enabled", async () => {
    await add("a:1");
    await fixture.db.updateTable("image_whitelist").set({ added_by: "first", enabled: false }).execute();
    const again = await add("a:1");
    assert.equal(again.added_by, "first");
    assert.equal(again.enabled, true);
  });
  test("an image that many add at once is there once", async () => {
    await Promise.all(Array.from({ length: 10 }, () => add("a:1")));
    assert.equal((await fixture.gateway.call(images.listImages, {}, admin)).items.length, 1);
  });
  test("it comes in pages, in the order of names", async () => {
    for (const name of ["c:1", "a:1", "b:1"]) await add(name);
    const first = await fixture.gateway.call(images.listImages, {}, admin);
    assert.deepEqual(
      first.items.map(({ image_ref }) => image_ref),
      ["a:1", "b:1"],
    );
    const cursor = first.next ?? "";
    const second = await fixture.gateway.call(images.listImages, { cursor }, admin);
    assert.deepEqual(
      second.items.map(({ image_ref }) => image_ref),
      ["c:1"],
    );
    assert.equal(second.next, undefined);
  });
  test("a removed image is gone, a second removal finds nothing", async () => {
    await add("a:1");
    assert.equal(await faultOf(remove("a:1")), "none");
    assert.equal(await faultOf(remove("a:1")), "not_found");
    assert.equal(await faultOf(admit("a:1")), "image_not_whitelisted");
    await until(() => fixture.audits.some(({ action }) => action === "image.remove"));
  });
  test("what is not an image cannot be added, and the message says what can", async () => {
    for (const text of ["a b", "*", "http://x/y:1", `a:1@sha256:${"0".repeat(64)}`]) {
      await assert.rejects(add(text), { fault: "bad_request", message: /^image_ref: .*(tag)/ });
    }
  });
});

describe("where provenance is required", () => {
  let strict: Fixture;
  const [inside, own] = ["packs/proven", "svc/proven"];
  const call = (image_ref: string) => strict.gateway.call(images.addImage, { image_ref }, admin);
  const used = (image_ref: string) => strict.lifecycle.call(images.admitImage, { image_ref });
  const at = (path: string) => `${registry.host}/${path}:1`;
  before(async () => {
    strict = await startFixture([`registry.url=${registry.host}`, "registry.require_provenance=true"]);
  });
  after(() => strict?.stop());
  const prove = async (digest: string) => {
    const id = "e".repeat(32);
    const build = { id, image_ref: at(inside), context_ref: "", requested_by: "amelia" };
    await strict.db.insertInto("image_builds").values(build).execute();
    const statement = JSON.stringify(exampleStatement(digest));
    const row = { build_id: id, digest, manifest_digest: digest, statement };
    await strict.db.insertInto("image_provenances").values(row).execute();
  };

  test("only what a build made is listed and used, and what a tag names later is not", async () => {
    assert.equal(await faultOf(call(at(inside))), "image_not_in_registry");
    const digest = await registry.push(inside, "1");
    assert.equal(await faultOf(call(at(inside))), "image_without_provenance");
    const unproven = () => strict.operator.call(provenances.findProvenance, { image_ref: at(inside) });
    assert.equal(await faultOf(unproven()), "provenance_not_found");
    await prove(digest);
    assert.equal((await unproven()).manifest_digest, digest);
    await call(at(inside));
    assert.deepEqual(await used(at(inside)), { image_ref: `${at(inside)}@${digest}` });
    const other = await registry.push(inside, "1");
    assert.equal(await faultOf(used(at(inside))), "image_without_provenance");
    assert.equal(await faultOf(used(`${at(inside)}@${other}`)), "image_without_provenance");
    assert.deepEqual(await used(`${at(inside)}@${digest}`), { image_ref: `${at(inside)}@${digest}` });
  });
  test("images of other hosts have none; the platform's own need none; a star is judged by each tag", async () => {
    for (const ref of ["itzg/minecraft-server:java21", "itzg/minecraft-server:*"])
      assert.equal(await faultOf(call(ref)), "image_without_provenance", ref);
    await strict.db
      .insertInto("image_whitelist")
      .values({ image_ref: "itzg/minecraft-server:java21", added_by: "earlier" })
      .execute();
    assert.equal(await faultOf(used("itzg/minecraft-server:java21")), "image_without_provenance");
    await registry.push(own, "1");
    await call(at(own));
    assert.equal(await faultOf(used(at(own))), "none");
    await registry.push("packs/unproven", "1");
    await call(`${registry.host}/packs/unproven:*`);
    assert.equal(await faultOf(used(at("packs/unproven"))), "image_without_provenance");
  });
});

function exampleStatement(digest: string): provenances.ProvenanceStatement {
  const push = { digest, bytes: 1 };
  const summary = {
    policy: { fail_on: [], fail_unfixed: false },
    blocked: false,
    packages: 0,
    counts: {},
    blocking_counts: {},
    findings: [],
  };
  const at = new Date(0);
  return statementOf({
    row: {
      id: "e".repeat(32),
      image_ref: "packs/proven:1",
      context_ref: "",
      context_digest: null,
      requested_by: "amelia",
      submission_id: null,
      created_at: at,
      started_at: null,
    },
    verdict: { scanned_at: at.toISOString(), summary },
    push,
    built: undefined,
    fetched: undefined,
    finishedAt: at,
    version: "0.1.0",
  });
}

describe("admission", () => {
  test("an exact tag admits that tag only", async () => {
    await add("a:1");
    assert.deepEqual(await admit("a:1"), { image_ref: "a:1" });
    for (const other of ["a:2", "a", "b:1", "registry.example.org/a:1", "a:1x", "A:1", "a:1 "]) {
      assert.equal(await faultOf(admit(other)), "image_not_whitelisted", other);
    }
  });
  test("a repository with a star admits every tag of it and of nothing below it", async () => {
    await add("a/b:*");
    for (const ref of ["a/b:1", "a/b", `a/b@sha256:${"0".repeat(64)}`]) {
      assert.equal(await faultOf(admit(ref)), "none", ref);
    }
    for (const ref of ["a:1", "a/b/c:1", "a/bc:1"]) {
      assert.equal(await faultOf(admit(ref)), "image_not_whitelisted", ref);
    }
  });
  test("a pinned image of another host is admitted by its tag and stored as given", async () => {
    await add("a:1");
    const ref = `a:1@sha256:${"0".repeat(64)}`;
    assert.deepEqual(await admit(ref), { image_ref: ref });
  });
  test("an entry that is not enabled admits nothing", async () => {
    await add("a:1");
    await fixture.db.updateTable("image_whitelist").set({ enabled: false }).execute();
    assert.equal(await faultOf(admit("a:1")), "image_not_whitelisted");
  });
  test("a star in a server's image is not a reference", async () => {
    await add("a:*");
    assert.equal(await faultOf(admit("a:*")), "image_not_whitelisted");
  });
});

describe("images of the platform's registry", () => {
  test("a tag is pinned to the digest that it names at that moment", async (t) => {
    t.diagnostic(
      registry.isReal
        ? "against docker-registry"
        : "docker-registry is not installed: against a server of these tests",
    );
    const name = `${registry.host}/packs/one`;
    await add(`${name}:*`);
    const first = await registry.push("packs/one", "latest");
    assert.deepEqual(await admit(name), { image_ref: `${name}:latest@${first}` });
    const second = await registry.push("packs/one", "latest");
    assert.notEqual(first, second);
    assert.deepEqual(await admit(`${name}:latest`), { image_ref: `${name}:latest@${second}` });
    assert.deepEqual(await admit(`${name}:latest@${first}`), { image_ref: `${name}:latest@${first}` });
  });
  test("a tag or digest that it does not have is not in the registry", async () => {
    const name = `${registry.host}/packs/two`;
    await add(`${name}:*`);
    await registry.push("packs/two", "1");
    assert.equal(await faultOf(admit(`${name}:2`)), "image_not_in_registry");
    assert.equal(await faultOf(admit(`${name}:1@sha256:${"0".repeat(64)}`)), "image_not_in_registry");
  });
  test("an image that is not on the list is refused without asking the registry", async () => {
    await registry.push("packs/three", "1");
    assert.equal(await faultOf(admit(`${registry.host}/packs/three:1`)), "image_not_whitelisted");
  });
});

describe("a registry that cannot be used", () => {
  const answers: [string, number, Record<string, string>][] = [
    ["fails", 500, {}],
    ["wants a password", 401, { "www-authenticate": "Basic" }],
    ["sends elsewhere", 307, { location: "http://169.254.169.254/" }],
    ["names no digest", 200, {}],
    ["names a digest that is none", 200, { "docker-content-digest": "sha256:../../x" }],
  ];
  for (const [what, status, headers] of answers) {
    test(`one that ${what} is a failure, never an answer`, async () => {
      const server = createServer((_request, response) => void response.writeHead(status, headers).end());
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      assert.equal((await resolve(host)).kind, "failed");
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    });
  }
  test("one that answers another digest than the one asked for is a failure", async () => {
    const received = { "docker-content-digest": `sha256:${"1".repeat(64)}` };
    const server = createServer((_request, response) => void response.writeHead(200, received).end());
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    assert.equal((await resolve(host, `@sha256:${"0".repeat(64)}`)).kind, "failed");
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  test("one that is silent is given up after the timeout", async () => {
    const server = createServer(() => {});
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    assert.equal((await resolve(host)).kind, "failed");
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  test("one that is away is 503 registry_unavailable, images of other hosts go on", async () => {
    const away = await startFixture(["registry.url=127.0.0.1:1"]);
    try {
      for (const ref of ["127.0.0.1:1/a:1", "a:1"]) {
        await away.gateway.call(images.addImage, { image_ref: ref }, admin);
      }
      const ask = (ref: string) => away.lifecycle.call(images.admitImage, { image_ref: ref });
      assert.equal(await faultOf(ask("127.0.0.1:1/a:1")), "registry_unavailable");
      assert.equal(await faultOf(ask("a:1")), "none");
    } finally {
      await away.stop();
    }
  });
});

function resolve(host: string, rest = ":1") {
  const reference = parseReference(`${host}/a${rest}`);
  const asked = createRegistry({ url: host, plain_http: true, timeout: 200 });
  if (!reference || !asked) throw new Error("no reference");
  return asked.resolve(reference, new AbortController().signal);
}

describe("what is outdated", () => {
  const outdated = () => fixture.gateway.call(images.listOutdated, {}, admin);
  test("without an answer of lifecycle it is unknown", async () => {
    assert.equal(await faultOf(outdated()), "unavailable");
  });
  test("images on a base that has moved and servers on an older digest are listed", async () => {
    const at = (path: string) => `${registry.host}/${path}:1`;
    const [base, pack] = [at("bases/one"), at("packs/old")];
    const first = await registry.push("bases/one", "1");
    const older = await registry.push("packs/old", "1");
    const newer = await registry.push("packs/old", "1");
    const id = "e".repeat(32);
    const about = {
      image_ref: pack,
      context_ref: "",
      requested_by: "usr-admin",
      status: "succeeded" as const,
    };
    await fixture.db
      .insertInto("image_builds")
      .values({
        ...about,
        id,
        image_digest: newer,
        bases: JSON.stringify([{ image_ref: base, digest: first }]),
        finished_at: new Date(),
      })
      .execute();
    await add(pack);
    await fixture.db
      .updateTable("image_whitelist")
      .set({ build_id: id })
      .where("image_ref", "=", pack)
      .execute();
    fixture.lifecycle.serve(servers.listImages, async () => ({
      items: [
        { server: "behind", images: [`${pack}@${older}`] },
        { server: "current", images: [`${pack}@${newer}`] },
      ],
    }));
    await until(async () => (await faultOf(outdated())) === "none");
    const behind = { server: "behind", image_ref: `${pack}@${older}`, newest: pack, digest: newer };
    assert.deepEqual(await outdated(), { images: [], servers: [behind] });
    const now = await registry.push("bases/one", "1");
    const moved = [{ image_ref: base, digest: first, now }];
    assert.deepEqual((await outdated()).images, [{ image_ref: pack, build_id: id, moved }]);
  });
});

describe("recommended images", () => {
  test("they are on the list after the start, once for any number of replicas", async () => {
    const set = ['builds.recommended=["svc.local/x:1", "svc.local/y:1", "svc.local/x:1"]'];
    await Promise.all([fixture.start(set), fixture.start(set)]);
    const { items } = await fixture.gateway.call(images.listImages, {}, admin);
    assert.deepEqual(
      items.map(({ image_ref, source, added_by }) => [image_ref, source, added_by]),
      [
        ["svc.local/x:1", "recommended", "svc"],
        ["svc.local/y:1", "recommended", "svc"],
      ],
    );
  });
  test("one that an admin took off stays off over a restart", async () => {
    const set = ['builds.recommended=["svc.local/z:1"]'];
    await fixture.start(set);
    await remove("svc.local/z:1");
    await fixture.start(set);
    assert.equal(await faultOf(admit("svc.local/z:1")), "image_not_whitelisted");
  });
  test("one that an admin had added before stays the admin's", async () => {
    await add("svc.local/w:1");
    await fixture.start(['builds.recommended=["svc.local/w:1"]']);
    const { items } = await fixture.gateway.call(images.listImages, {}, admin);
    assert.equal(items[0]?.source, "external");
  });
});

describe("without a database", () => {
  test("every call is 503, and answers again when it is back", async () => {
    await fixture.wire.cut();
    assert.equal(await faultOf(fixture.gateway.call(images.listImages, {}, admin)), "unavailable");
    assert.equal(await faultOf(add("a:1")), "unavailable");
    assert.equal(await faultOf(admit("a:1")), "unavailable");
    await fixture.wire.recover();
    await until(async () => (await faultOf(add("a:1"))) === "none");
  });
});
