import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Mesh } from "@svc/mesh";
import { until } from "@svc/mesh/testing";
import { builds, buildsHealth, images, scans, servers } from "@svc/proto";
import { startTestRegistry, type TestRegistry } from "@svc/registry/testing";
import { type BuildFixture, blockedVerdict, openBuildFixture, success } from "../testing/build-fixture.ts";
import { admin } from "../testing/fixture.ts";

const waitMs = 60_000;
let fixture: BuildFixture;
let registry: TestRegistry;
let lifecycle: Mesh;
let operator: Mesh;
let used: string[] = [];
before(async () => {
  [fixture, registry] = await Promise.all([openBuildFixture(), startTestRegistry()]);
  [lifecycle, operator] = [await fixture.nats.connect("lifecycle"), await fixture.nats.connect("operator")];
  lifecycle.serve(servers.listImages, async () => ({ items: [{ server: "a", images: used }] }));
  await lifecycle.announce();
});
after(async () => {
  await fixture?.close();
  await Promise.all([lifecycle?.drain(500), operator?.drain(500), registry?.stop()]);
});

const flagged = async () => (await fixture.gateway.call(images.listFlagged, {}, admin)).items;
const flaggedRefs = async () => (await flagged()).map(({ image_ref }) => image_ref);
const isFlagged = (...refs: string[]) =>
  until(async () => JSON.stringify(await flaggedRefs()) === JSON.stringify(refs.sort()), waitMs);

test("images that are allowed or in use are scanned again and flagged while today's policy blocks them", async () => {
  fixture.script(success);
  const name = `${registry.host}/packs/a:1`;
  const older = `${name}@${await registry.push("packs/a", "1")}`;
  const newer = `${name}@${await registry.push("packs/a", "1")}`;
  used = [older, "elsewhere/image:1", `${registry.host}/packs/floating:1`];
  await fixture.start({ overrides: [`registry.url=${registry.host}`, "registry.rescan_every=1s"] });
  for (const image_ref of [name, `${registry.host}/packs/a:*`, "elsewhere/image:1"])
    await fixture.gateway.call(images.addImage, { image_ref }, admin);
  const ofA = async () => {
    const { items } = await fixture.gateway.call(images.listImages, {}, admin);
    return items.find(({ image_ref }) => image_ref === name)?.scan;
  };
  const first = await until(ofA, waitMs);
  assert.equal(first.blocked, false);
  assert.deepEqual(await flagged(), []);

  fixture.script({ ...success, "scan-gate": { print: [blockedVerdict], message: "blocked", exit: 1 } });
  await isFlagged(older, newer);
  await until(async () => (await ofA())?.blocked === true, waitMs);
  const found = (await flagged()).find(({ image_ref }) => image_ref === newer);
  assert.deepEqual(found?.blocking_counts, { CRITICAL: 1 });
  const health = await operator.call(buildsHealth.readBuildsHealth, {});
  assert.deepEqual([health.flagged, health.first_flagged?.image_ref], [2, [older, newer].sort()[0]]);

  // The server is gone, and the policy changed its mind.
  used = [];
  await isFlagged(newer);
  fixture.script(success);
  await isFlagged();
  await until(async () => (await ofA())?.blocked === false, waitMs);
});

test("a scan is read like a build, and lists of builds leave it out", async () => {
  const page = { limit: 20, offset: 0 };
  // The next scan of the image takes the place of this one.
  const { id, scan } = await until(async () => {
    const { builds: all } = await fixture.gateway.call(builds.listBuilds, { kind: "scan", ...page }, admin);
    const found = all.find(({ status }) => status === "succeeded");
    if (!found) return undefined;
    const scan = await fixture.gateway.call(scans.readScan, { id: found.id }, admin).catch(() => undefined);
    return scan && { id: found.id, scan };
  }, waitMs);
  assert.equal(scan.summary.blocked, false);
  assert.deepEqual(fixture.runs(id), ["pull", "scan", "sbom", "scan-gate"]);
  const { total } = await fixture.gateway.call(builds.listBuilds, page, admin);
  assert.equal(total, 0);
});
