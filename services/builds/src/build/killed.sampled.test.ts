// A replica dies before or after everything that it does in the cluster. The next one finishes the build: each step ran
// once, and the image is whitelisted once. PostgreSQL and the cluster go away and come back.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sampleOf } from "@svc/config/testing";
import { type Kube, resources } from "@svc/kube";
import { faultOf, until } from "@svc/mesh/testing";
import { type buildJobs, builds, Fault, provenances } from "@svc/proto";
import { listReferrers, type Registry, RegistryError } from "@svc/registry";
import {
  type BuildFixture,
  base,
  digest,
  namespace,
  openBuildFixture,
  registryHost,
  success,
} from "../testing/build-fixture.ts";
import { admin } from "../testing/fixture.ts";
import { layerCacheOf } from "./launch.ts";

let fixture: BuildFixture;
before(async () => {
  fixture = await openBuildFixture();
  fixture.script(success);
});
after(() => fixture?.close());

let started = 0;
const start = () =>
  fixture.gateway.call(builds.startBuild, fixture.request(`killed-${started++}`) as never, admin);
const rowOf = (id: string) =>
  fixture.db.selectFrom("image_builds").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
const hasEnded = (id: string) => until(async () => (await rowOf(id)).finished_at !== null, 90_000);
const steps = ["context-fetch", "build", "scan", "sbom", "scan-gate", "push"];

type Step = { call: "create" | "remove" | "get" | "list"; kind: string; when: "before" | "after" };

/** Dies at a step: from then on nothing that it asks the cluster is answered. */
function dyingKube(kube: Kube, step: Step, onDeath: () => void): Kube {
  let isDead = false;
  const die = () => {
    isDead = true;
    onDeath();
    throw new Fault("unavailable", { message: "killed" });
  };
  const dying =
    <A extends unknown[], T>(call: Step["call"], work: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      if (isDead) throw new Fault("unavailable", { message: "killed" });
      const { kind } = args[0] as { kind: string };
      const isHere = call === step.call && kind === step.kind;
      if (isHere && step.when === "before") die();
      const result = await work(...args);
      if (isHere) die();
      return result;
    };
  return {
    ...kube,
    create: dying("create", kube.create) as Kube["create"],
    remove: dying("remove", kube.remove) as Kube["remove"],
    get: dying("get", kube.get) as Kube["get"],
    list: dying("list", kube.list) as Kube["list"],
  };
}

const points: Step[] = [
  { call: "create", kind: "Job", when: "before" },
  { call: "create", kind: "Job", when: "after" },
  { call: "create", kind: "Secret", when: "before" },
  { call: "create", kind: "Secret", when: "after" },
  { call: "list", kind: "Pod", when: "after" },
  { call: "remove", kind: "Secret", when: "before" },
  { call: "remove", kind: "Secret", when: "after" },
];

for (const point of sampleOf(points, 3)) {
  const { call, kind, when } = point;
  test(`a replica that dies ${when} its ${call} of a ${kind} leaves a build that the next one finishes`, async () => {
    const death = Promise.withResolvers<void>();
    const first = await fixture.start({ wrapKube: (kube) => dyingKube(kube, point, death.resolve) });
    const { id, image_ref } = await start();
    await death.promise;
    await first.stop();
    const second = await fixture.start();
    await hasEnded(id);
    const { status, error } = await rowOf(id);
    assert.deepEqual([status, error], ["succeeded", null]);
    assert.deepEqual(fixture.runs(id), steps);
    const listed = await fixture.db
      .selectFrom("image_whitelist")
      .select("build_id")
      .where("image_ref", "=", image_ref)
      .execute();
    assert.deepEqual(listed, [{ build_id: id }]);
    assert.deepEqual(
      fixture.ended.filter((one) => one.startsWith(id)),
      [`${id} succeeded`],
    );
    const secret = { name: `build-${id}`, namespace };
    await until(async () => (await fixture.kube.find(resources.secrets, secret)) === undefined, 60_000);
    await second.stop();
  });
}

for (const step of sampleOf(steps, 2))
  test(`a build that is cancelled in the step ${step} ends there, with its Job and its Secret, and allows nothing`, async () => {
    const held = { ...success, [step]: { ...success[step], waitWhile: "cancelled" } };
    fixture.script(held);
    fixture.hold("cancelled");
    const replica = await fixture.start();
    const { id, image_ref } = await start();
    await until(() => fixture.runs(id).includes(step), 90_000);
    const cancelled = await fixture.gateway.call(builds.cancelBuild, { id }, admin);
    assert.equal(cancelled.status, "cancelled");
    assert.equal(await faultOf(fixture.gateway.call(builds.cancelBuild, { id }, admin)), "build_finished");
    const about = { name: `build-${id}`, namespace };
    for (const kind of [resources.jobs, resources.secrets])
      await until(async () => (await fixture.kube.find<never>(kind as never, about)) === undefined, 60_000);
    fixture.release("cancelled");
    fixture.script(success);
    const listed = fixture.db.selectFrom("image_whitelist").selectAll().where("image_ref", "=", image_ref);
    assert.deepEqual([await listed.execute(), (await rowOf(id)).status], [[], "cancelled"]);
    assert.deepEqual(fixture.runs(id), steps.slice(0, steps.indexOf(step) + 1));
    await replica.stop();
  });

test("a build gets the layers of the author of its context, and of nobody else", async () => {
  const replica = await fixture.start();
  const submission = { id: `sub-${"a".repeat(24)}`, submitted_by: "alice", display_name: "Cliffs" };
  const caches: (string | undefined)[] = [];
  for (const submitted_by_id of [undefined, "usr-1", "usr-2", "usr-1"]) {
    await fixture.db.deleteFrom("image_submissions").execute();
    if (submitted_by_id !== undefined)
      await fixture.db
        .insertInto("image_submissions")
        .values({ ...submission, submitted_by_id })
        .execute();
    const { id } = await start();
    const job = await until(
      () => fixture.kube.find(resources.jobs, { name: `build-${id}`, namespace }),
      60_000,
    );
    const [container] = job.spec?.template.spec?.containers ?? [];
    const task = container?.env?.find(({ name }) => name === "SVC_BUILD_TASK")?.value ?? "";
    caches.push((JSON.parse(task) as buildJobs.BuildTask).layer_cache);
    await hasEnded(id);
  }
  await fixture.db.deleteFrom("image_submissions").execute();
  assert.deepEqual(caches, [undefined, layerCacheOf("usr-1"), layerCacheOf("usr-2"), layerCacheOf("usr-1")]);
  assert.equal(new Set(caches).size, 3);
  assert.ok(!caches.some((cache) => cache?.includes("usr-")));
  await replica.stop();
});

test("while the cluster is down a build is accepted, can be read and cancelled, and another starts once it is back", async () => {
  let isDown = true;
  const down = (kube: Kube): Kube => {
    const through =
      <A extends unknown[], T>(work: (...args: A) => Promise<T>) =>
      async (...args: A): Promise<T> => {
        if (isDown) throw new Fault("unavailable", { message: "down" });
        return work(...args);
      };
    return {
      ...kube,
      create: through(kube.create) as Kube["create"],
      list: through(kube.list) as Kube["list"],
      find: through(kube.find) as Kube["find"],
      remove: through(kube.remove) as Kube["remove"],
      replace: through(kube.replace) as Kube["replace"],
    };
  };
  const replica = await fixture.start({ wrapKube: down });
  const [one, two] = [await start(), await start()];
  assert.equal((await fixture.read(one.id)).finished_at, undefined);
  assert.equal((await fixture.gateway.call(builds.cancelBuild, { id: one.id }, admin)).status, "cancelled");
  isDown = false;
  await hasEnded(two.id);
  assert.equal((await rowOf(two.id)).status, "succeeded");
  assert.deepEqual([(await rowOf(one.id)).status, fixture.runs(one.id)], ["cancelled", []]);
  await replica.stop();
});

test("a build ends well although PostgreSQL was away while its Job ended", async () => {
  fixture.script({ ...success, push: { ...success["push"], waitWhile: "postgres" } });
  fixture.hold("postgres");
  const replica = await fixture.start();
  const { id } = await start();
  await until(() => fixture.runs(id).includes("push"), 90_000);
  await fixture.wire.cut();
  fixture.release("postgres");
  await until(async () => {
    const job = await fixture.kube.get(resources.jobs, { name: `build-${id}`, namespace: "svc-build" });
    return job.status?.succeeded === 1;
  }, 90_000);
  await fixture.wire.recover();
  await hasEnded(id);
  assert.equal((await rowOf(id)).status, "succeeded");
  await replica.stop();
});

/** A registry that does what it is asked and then fails, or only fails. */
function failingRegistry(
  registry: Registry,
  how: () => "after" | "unavailable" | "rejected" | undefined,
): Registry {
  const putManifest: Registry["putManifest"] = async (...given) => {
    const now = how();
    const digest = now === undefined || now === "after" ? await registry.putManifest(...given) : "";
    if (now !== undefined) throw new RegistryError(now === "after" ? "unavailable" : now, `it is ${now}`);
    return digest;
  };
  return { ...registry, putManifest };
}

test("a build waits for a registry that fails, and its provenance is kept with the image once", async () => {
  fixture.script(success);
  let failures = 0;
  const first = await fixture.start({
    wrapRegistry: (registry) =>
      failingRegistry(registry, () => {
        failures += 1;
        return failures % 2 === 0 ? "after" : "unavailable";
      }),
  });
  const { id, image_ref, context_ref = "" } = await start();
  await until(() => failures >= 4, 90_000);
  assert.equal((await rowOf(id)).status, "building");
  await first.stop();
  const second = await fixture.start();
  await hasEnded(id);
  const { statement, manifest_digest } = await provenanceOf(id);
  const path = image_ref.slice(registryHost.length + 1, -":1".length);
  const referrers = await listReferrers(fixture.registry, { path, digest });
  assert.deepEqual(
    referrers.map((one) => [one.digest, one.artifactType]),
    [[manifest_digest, provenances.provenanceType]],
  );
  assert.deepEqual(JSON.parse(await keptStatement(path, manifest_digest)), statement);
  const { buildDefinition, runDetails } = statement.predicate;
  assert.deepEqual(buildDefinition.externalParameters, { image_ref, requested_by: "usr-admin" });
  assert.deepEqual(buildDefinition.resolvedDependencies, [
    { uri: context_ref, digest: { sha256: "c".repeat(64) } },
    { uri: base.image_ref, digest: { sha256: "b".repeat(64) } },
  ]);
  assert.deepEqual(
    [runDetails.builder.version["buildah"], runDetails.metadata.invocationId, runDetails.svc_scan.blocked],
    ["1.28.2", id, false],
  );
  await second.stop();
});

/** A registry that gives no tag. */
function tagless(registry: Registry, kind: "unavailable" | "rejected"): Registry {
  const putManifest: Registry["putManifest"] = async (path, reference, manifest) => {
    if (reference === "1") throw new RegistryError(kind, `it is ${kind}`);
    return registry.putManifest(path, reference, manifest);
  };
  return { ...registry, putManifest };
}

const tagOf = async (image_ref: string) =>
  (await fixture.registry.getManifest(image_ref.slice(registryHost.length + 1, -":1".length), "1"))?.digest;
const listedOf = (image_ref: string) =>
  fixture.db.selectFrom("image_whitelist").select("build_id").where("image_ref", "=", image_ref).execute();
const cancel = (id: string) => faultOf(fixture.gateway.call(builds.cancelBuild, { id }, admin));

test("a build that is cancelled after its push leaves the tag where it was, and its Job's image without one", async () => {
  fixture.script(success);
  const refusing = (registry: Registry) => failingRegistry(registry, () => "unavailable");
  const replica = await fixture.start({ wrapRegistry: refusing });
  const { id, image_ref } = await start();
  const job = { name: `build-${id}`, namespace };
  await until(async () => (await fixture.kube.find(resources.jobs, job))?.status?.succeeded === 1, 90_000);
  assert.equal(await cancel(id), "none");
  assert.deepEqual([(await rowOf(id)).status, await tagOf(image_ref)], ["cancelled", undefined]);
  assert.deepEqual(await listedOf(image_ref), []);
  await replica.stop();
});

test("a build whose image was recorded can't be cancelled, and gets its tag and its end by another replica without its Job", async () => {
  const first = await fixture.start({ wrapRegistry: (registry) => tagless(registry, "unavailable") });
  const { id, image_ref } = await start();
  await until(async () => (await rowOf(id)).sealed_at !== null, 90_000);
  assert.deepEqual([await cancel(id), await listedOf(image_ref)], ["build_finished", []]);
  await first.stop();
  const job = { name: `build-${id}`, namespace };
  await fixture.kube.remove(resources.jobs, job, { propagationPolicy: "Background" });
  await until(async () => (await fixture.kube.find(resources.jobs, job)) === undefined, 60_000);
  const second = await fixture.start();
  await hasEnded(id);
  const { status, image_digest, log_ref } = await rowOf(id);
  assert.deepEqual([status, image_digest, log_ref], ["succeeded", digest, id]);
  assert.deepEqual([await tagOf(image_ref), await listedOf(image_ref)], [digest, [{ build_id: id }]]);
  assert.deepEqual(
    fixture.ended.filter((one) => one.startsWith(id)),
    [`${id} succeeded`],
  );
  await second.stop();
});

test("a build whose tag the registry refuses has failed, with its scan, and is not allowed", async () => {
  const replica = await fixture.start({ wrapRegistry: (registry) => tagless(registry, "rejected") });
  const { id, image_ref } = await start();
  await hasEnded(id);
  const { status, error } = await rowOf(id);
  assert.deepEqual([status, error, await listedOf(image_ref)], ["failed", "push: it is rejected", []]);
  assert.equal(await faultOf(provenanceOf(id)), "provenance_not_found");
  const scan = fixture.db.selectFrom("image_build_scans").select("blocked").where("build_id", "=", id);
  assert.deepEqual(await scan.execute(), [{ blocked: false }]);
  await replica.stop();
});

const provenanceOf = (id: string) => fixture.gateway.call(provenances.readProvenance, { id }, admin);

async function keptStatement(path: string, manifestDigest: string): Promise<string> {
  const manifest = await fixture.registry.getManifest(path, manifestDigest);
  const { layers, subject } = JSON.parse(manifest?.bytes.toString() ?? "");
  assert.equal(subject.digest, digest);
  const chunks: Buffer[] = [];
  for await (const chunk of fixture.registry.getBlob(path, layers[0])) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test("a build whose provenance the registry refuses has failed and is not allowed", async () => {
  const replica = await fixture.start({
    wrapRegistry: (registry) => failingRegistry(registry, () => "rejected"),
  });
  const { id, image_ref } = await start();
  await hasEnded(id);
  const { status, error } = await rowOf(id);
  assert.deepEqual([status, error], ["failed", "provenance: it is rejected"]);
  assert.equal(await faultOf(provenanceOf(id)), "provenance_not_found");
  const listed = fixture.db.selectFrom("image_whitelist").selectAll().where("image_ref", "=", image_ref);
  assert.deepEqual(await listed.execute(), []);
  await replica.stop();
});

for (const isolated of [true, false]) {
  test(`where nodes give pods ${isolated ? "a" : "no"} user namespace, builds that ask for it by themselves have ${isolated ? "one" : "none"}`, async () => {
    const probe = { name: "probe-user-namespaces", namespace };
    if (!isolated) fixture.hold("host-users");
    const auto = { overrides: ["registry.build_user_namespaces=auto"] };
    const replicas = [await fixture.start(auto), await fixture.start(auto)];
    const { id } = await start();
    await hasEnded(id);
    assert.equal((await rowOf(id)).status, "succeeded");
    const job = await fixture.kube.get(resources.jobs, { name: `build-${id}`, namespace });
    assert.equal(job.spec?.template.spec?.hostUsers, isolated ? false : undefined);
    for (const one of replicas) await one.stop();
    fixture.release("host-users");
    await fixture.kube.remove(resources.jobs, probe, { propagationPolicy: "Background" });
    await until(async () => (await fixture.kube.find(resources.jobs, probe)) === undefined, 60_000);
  });
}
