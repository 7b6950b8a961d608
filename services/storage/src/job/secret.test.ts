// Secrets of Jobs on a cluster, with the permissions that storage has there.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { loadSettings } from "@svc/config";
import { connectKube, isKubeError, type Kube, resources } from "@svc/kube";
import { until } from "@svc/mesh/testing";
import { isJobFinished } from "@svc/world-lock";
import { settings as schema } from "../config.ts";
import { type Fixture, openFixture, quick } from "../testing/fixture.ts";
import { namespace } from "../testing/worlds.ts";
import { createJob, unblockJob } from "./begin.ts";
import { type JobSpec, worldJob } from "./spec.ts";

const settings = loadSettings(schema, { overrides: quick });
const content = Buffer.from("what nobody else is to read");
const target = (name: string) => ({ name, namespace });

let fixture: Fixture;
let own: Kube;
before(async () => {
  fixture = await openFixture();
  own = connectKube({ kubeconfigFile: join(fixture.dataDir, "kubeconfig.storage") });
  await fixture.addServer("survival", "usr-1");
});
after(async () => {
  own?.close();
  await fixture?.close();
});

const wishOf = (name: string): JobSpec => ({
  name,
  server: "survival",
  manager: "svc-files",
  task: {
    mode: "write",
    path: `${name}.txt`,
    content_sha256: createHash("sha256").update(content).digest("hex"),
  },
  deadlineMs: 600_000,
  world: { claim: "world-survival-0", mode: "rw" },
  secret: { token: "once-only", content },
});
const jobOf = (name: string) => fixture.kube.get(resources.jobs, target(name));
const ended = (name: string) => until(async () => isJobFinished(await jobOf(name)), 20_000);
const findSecret = (name: string) => fixture.kube.find(resources.secrets, target(name));

test("a Job reads its secret from a file; neither Job nor pod contains it, and the Secret is deleted with the Job", async () => {
  await createJob({ kube: own, settings }, wishOf("written"));
  await ended("written");
  assert.equal(fixture.worldOf("survival")["written.txt"], content.toString());
  const { items: pods } = await fixture.kube.list(resources.pods, { namespace });
  const shown = JSON.stringify([await jobOf("written"), pods]);
  for (const hidden of ["once-only", content.toString(), content.toString("base64")])
    assert.ok(!shown.includes(hidden), hidden);
  const { uid } = (await jobOf("written")).metadata;
  assert.equal((await findSecret("written"))?.metadata.ownerReferences?.[0]?.uid, uid);
  await fixture.kube.remove(resources.jobs, target("written"), { propagationPolicy: "Background" });
  await until(async () => (await findSecret("written")) === undefined, 20_000);
});

test("a Job whose creator died before creating the Secret ends soon, changes nothing and leaves nothing", async () => {
  const made = await own.create(resources.jobs, worldJob(settings, { ...wishOf("orphan"), pin: undefined }));
  await unblockJob({ kube: own }, made);
  await ended("orphan");
  assert.equal((await jobOf("orphan")).status?.succeeded ?? 0, 0);
  assert.equal(fixture.worldOf("survival")["orphan.txt"], undefined);
  await fixture.kube.remove(resources.jobs, target("orphan"), { propagationPolicy: "Background" });
  await until(async () => (await findSecret("orphan")) === undefined, 20_000);
});

test("the reconciliation of Jobs ends the wait of a Job without its Secret", async () => {
  const replica = await fixture.start();
  const spec = { ...wishOf("found"), manager: "svc-backup" as const, pin: undefined };
  await own.create(resources.jobs, worldJob(settings, spec));
  await ended("found");
  await replica.stop();
});

test("a Job that has its Secret keeps it, and is created once", async () => {
  const spec = wishOf("twice");
  await createJob({ kube: own, settings }, spec);
  await createJob({ kube: own, settings }, { ...spec, secret: { token: "another" } });
  await unblockJob({ kube: own }, await jobOf("twice"));
  await ended("twice");
  assert.equal(fixture.worldOf("survival")["twice.txt"], content.toString());
});

test("a Job whose Secret is rejected is not left behind", async () => {
  const refusing: Kube = {
    ...own,
    create: async (kind, object) => {
      if (kind.plural === "secrets") throw new Error("the cluster is gone");
      return own.create(kind, object);
    },
  };
  await assert.rejects(createJob({ kube: refusing, settings }, wishOf("refused")), /the cluster is gone/);
  await until(async () => (await fixture.kube.find(resources.jobs, target("refused"))) === undefined, 20_000);
});

test("storage may create Secrets and read none", async () => {
  const isForbidden = (error: unknown) => isKubeError(error, 403);
  await assert.rejects(own.get(resources.secrets, target("survival-forwarding")), isForbidden);
  await assert.rejects(own.list(resources.secrets, { namespace }), isForbidden);
});
