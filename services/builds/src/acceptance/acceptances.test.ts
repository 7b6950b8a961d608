import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { faultOf, until } from "@svc/mesh/testing";
import { acceptances, isFault } from "@svc/proto";
import { admin, type Fixture, startFixture } from "../testing/fixture.ts";
import { mostAcceptances, readExpiry, readPackage, readRepository, repositoryOf } from "./rules.ts";
import { findAcceptancesOf } from "./store.ts";

const host = "registry.test:5000";
const day = 86_400_000;

describe("what an acceptance may say", () => {
  const now = Date.parse("2026-11-23T02:00:00.000Z");
  const expiry = (given: string) => () => readExpiry(given, { now, longestMs: 365 * day });
  const cases: [string, () => unknown, wanted: unknown][] = [
    ["a repository of the registry", () => readRepository(`${host}/packs/a`, host), `${host}/packs/a`],
    ["no repository: every image", () => readRepository(undefined, host), undefined],
    ["a tag", () => readRepository(`${host}/packs/a:1`, host), "bad_request"],
    ["a digest", () => readRepository(`${host}/packs/a@sha256:${"0".repeat(64)}`, host), "bad_request"],
    ["a repository elsewhere", () => readRepository("docker.io/packs/a", host), "bad_request"],
    ["what is not a repository", () => readRepository("*", host), "bad_request"],
    ["an empty repository", () => readRepository("", host), "bad_request"],
    [
      "a package",
      () => readPackage("org.apache.logging.log4j:log4j-core"),
      "org.apache.logging.log4j:log4j-core",
    ],
    ["a file of the longest name", () => readPackage("x".repeat(199)), "x".repeat(199)],
    ["a file of a longer name, which summaries cut", () => readPackage("x".repeat(200)), "bad_request"],
    ["a file of more bytes", () => readPackage("\u4e00".repeat(67)), "bad_request"],
    ["a file with a control character", () => readPackage("a\nb"), "bad_request"],
    ["the last day", expiry("2027-11-23T02:00:00.000Z"), new Date("2027-11-23T02:00:00.000Z")],
    ["a later day", expiry("2027-11-23T02:00:00.001Z"), "bad_request"],
    ["this moment", expiry("2026-11-23T02:00:00.000Z"), "bad_request"],
    ["a moment ago", expiry("2026-11-23T01:59:59.999Z"), "bad_request"],
  ];
  for (const [what, read, wanted] of cases)
    test(`${what} is ${wanted === "bad_request" ? "rejected" : "taken"}`, () => {
      let result: unknown;
      try {
        result = read();
      } catch (error) {
        result = isFault(error) ? error.fault : error;
      }
      assert.deepEqual(result, wanted);
    });
  test("all tags of an image are one repository", () => {
    for (const rest of ["", ":1", `:1@sha256:${"0".repeat(64)}`])
      assert.equal(repositoryOf(`${host}/packs/a${rest}`), `${host}/packs/a`);
  });
});

describe("accepted findings", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture([`registry.url=${host}`]);
  });
  after(() => fixture?.stop());
  beforeEach(() => fixture.db.deleteFrom("finding_acceptances").execute());

  const inDays = (days: number) => new Date(Date.now() + days * day).toISOString();
  const about = {
    finding_id: "CVE-2026-1",
    package: "log4j",
    reason: " not reachable ",
    expires_at: inDays(30),
  };
  const add = (more: object = {}) =>
    fixture.gateway.call(acceptances.addAcceptance, { ...about, ...more } as never, admin);
  const remove = (id: string) => fixture.gateway.call(acceptances.removeAcceptance, { id }, admin);
  const list = (query: object = {}) =>
    fixture.gateway.call(acceptances.listAcceptances, query as never, admin);
  const idsOf = async (repository: string) =>
    (await findAcceptancesOf(fixture.db, `${host}/${repository}`)).map(({ id }) => id);

  test("one is listed with its author, reason and expiry, and is in the audit log", async () => {
    const added = await add({ repository: `${host}/packs/a` });
    const { id, accepted_at: _, ...rest } = added;
    assert.deepEqual(rest, {
      ...about,
      reason: "not reachable",
      repository: `${host}/packs/a`,
      accepted_by: "usr-admin",
    });
    assert.deepEqual(await list(), { acceptances: [added], total: 1 });
    await until(() => fixture.audits.some(({ action }) => action === "acceptance.add"));
    const entry = fixture.audits.find(({ action }) => action === "acceptance.add");
    assert.deepEqual([entry?.actor_user_id, entry?.payload["id"]], ["usr-admin", id]);
    assert.equal(entry?.payload["reason"], "not reachable");
  });
  test("one applies to its repository or to every image, until it expires", async () => {
    const [all, own] = [await add(), await add({ repository: `${host}/packs/a` })];
    const expired = await add({ repository: `${host}/packs/a`, package: "other" });
    await fixture.db
      .updateTable("finding_acceptances")
      .set({ expires_at: new Date() })
      .where("id", "=", expired.id)
      .execute();
    assert.deepEqual(await idsOf("packs/a"), [all.id, own.id]);
    assert.deepEqual(await idsOf("packs/ab"), [all.id]);
    const listed = await list({ repository: `${host}/packs/b` });
    assert.deepEqual(
      listed.acceptances.map(({ id }) => id),
      [all.id],
    );
    assert.equal((await list({ repository: `${host}/packs/a`, limit: 1, offset: 1 })).total, 3);
  });
  test("accepting it again replaces reason and expiry", async () => {
    const first = await add();
    const second = await add({ reason: "still not", expires_at: inDays(60) });
    assert.deepEqual([second.id, second.reason], [first.id, "still not"]);
    assert.equal((await list()).total, 1);
  });
  test("a removed one is gone, a second removal finds nothing", async () => {
    const { id } = await add();
    assert.equal(await faultOf(remove(id)), "none");
    assert.deepEqual(await idsOf("packs/a"), []);
    assert.equal(await faultOf(remove(id)), "not_found");
    await until(() => fixture.audits.some(({ action }) => action === "acceptance.remove"));
  });
  test("one repository has so many and no more, also when they are accepted at once", async () => {
    const repository = `${host}/packs/full`;
    // One after the other: so many at once wait longer for a connection than a request may on a busy machine.
    for (let index = 0; index < mostAcceptances - 1; index++) await add({ repository, package: `p${index}` });
    const faults = await Promise.all(
      ["x", "y", "z"].map((name) => faultOf(add({ repository, package: name }))),
    );
    assert.deepEqual(faults.sort(), ["acceptance_limit", "acceptance_limit", "none"]);
    assert.equal(await faultOf(add({ repository, package: "p0" })), "none");
    assert.equal(await faultOf(add()), "none");
  });
  const wrong: Record<string, object> = {
    "an id with spaces": { finding_id: "CVE 1" },
    "no reason": { reason: "  " },
    "an expiry in two years": { expires_at: inDays(730) },
    "an expiry that is not a time": { expires_at: "soon" },
    "a repository elsewhere": { repository: "docker.io/a" },
  };
  for (const [what, more] of Object.entries(wrong))
    test(`${what} is rejected`, async () => {
      assert.equal(await faultOf(add(more)), "bad_request");
      assert.equal((await list()).total, 0);
    });
});
