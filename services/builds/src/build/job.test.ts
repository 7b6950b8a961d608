// What each step of a build may do and hold (docs/reference/builds.md#job).

import assert from "node:assert/strict";
import { test } from "node:test";
import { loadSettings } from "@svc/config";
import { parseQuantity } from "@svc/kube/quantity";
import type { buildJobs } from "@svc/proto";
import { settings as schema } from "../config.ts";
import { buildJob, label, secretOfJob } from "./job.ts";

const overrides = ["builds.agent_image=svc:1", "builds.builder=buildah:1", "builds.scanner=trivy:1"];
const id = "b".repeat(32);
const task = { build_id: id } as buildJobs.BuildTask;
const jobOf = (...more: string[]) =>
  buildJob(loadSettings(schema, { overrides: [...overrides, ...more] }), {
    ...{ id, task },
    hasRegistryCredential: true,
  });
const podOf = (job: ReturnType<typeof jobOf>) => job.spec?.template.spec;
const containersOf = (job: ReturnType<typeof jobOf>) => [
  ...(podOf(job)?.initContainers ?? []),
  ...(podOf(job)?.containers ?? []),
];

test("the steps run in their order, each with its image and folders, and push is the main container", () => {
  const job = jobOf();
  const shown = containersOf(job).map(({ name, image, args }) => [name, image, args?.slice(1).join(" ")]);
  assert.deepEqual(shown, [
    ["egress-gate", "svc:1", ""],
    ["context-fetch", "svc:1", "--caller=/run/svc/caller --context=/context --tmp=/tmp"],
    ["build", "buildah:1", "--context=/context --image=/image --tmp=/tmp"],
    ["scan", "trivy:1", "--image=/image --reports=/reports --tmp=/tmp"],
    ["sbom", "trivy:1", "--image=/image --reports=/reports --tmp=/tmp"],
    ["scan-gate", "svc:1", "--image=/image --reports=/reports --secret=/run/svc/build --tmp=/tmp"],
    ["push", "svc:1", "--image=/image --registry=/run/svc/registry --tmp=/tmp"],
  ]);
  assert.deepEqual(
    podOf(job)?.containers.map(({ name }) => name),
    ["push"],
  );
  const { metadata, spec } = job;
  assert.deepEqual([metadata.name, metadata.namespace], [`build-${id}`, "svc-build"]);
  assert.deepEqual(
    [spec?.backoffLimit, spec?.activeDeadlineSeconds, spec?.ttlSecondsAfterFinished],
    [0, 1_800, 604_800],
  );
});

test("only the pod of a pack that downloads has the label with which a network policy lets it out", () => {
  const settings = loadSettings(schema, { overrides });
  const downloads = { hosts: ["cdn.modrinth.com"], files: 1, bytes: 1 };
  const labelOf = (more: Partial<buildJobs.BuildTask>) => {
    const job = buildJob(settings, { id, task: { ...task, ...more }, hasRegistryCredential: true });
    return job.spec?.template.metadata?.labels?.[label.downloads];
  };
  assert.deepEqual([labelOf({}), labelOf({ downloads })], [undefined, "pack"]);
});

test("a scan pulls the image and judges it, without a credential and without a volume that it does not need", () => {
  const settings = loadSettings(schema, { overrides });
  const job = buildJob(settings, { id, kind: "scan", task, hasRegistryCredential: true });
  assert.deepEqual(
    containersOf(job).map(({ name, image, args }) => [name, image, args?.slice(1).join(" ")]),
    [
      ["egress-gate", "svc:1", ""],
      ["pull", "svc:1", "--image=/image"],
      ["scan", "trivy:1", "--image=/image --reports=/reports --tmp=/tmp"],
      ["sbom", "trivy:1", "--image=/image --reports=/reports --tmp=/tmp"],
      ["scan-gate", "svc:1", "--image=/image --reports=/reports --secret=/run/svc/build --tmp=/tmp"],
    ],
  );
  assert.deepEqual(
    podOf(job)?.volumes?.map(({ name }) => name),
    ["image", "reports", "tmp-scan", "tmp-scan-gate", "secret"],
  );
});

test("no pod of a build has an account's token, and each secret is in one container", () => {
  const job = jobOf();
  const pod = podOf(job);
  assert.deepEqual([pod?.serviceAccountName, pod?.automountServiceAccountToken], ["build-jobs", false]);
  const holders = (volume: string) =>
    containersOf(job)
      .filter(({ volumeMounts }) => volumeMounts?.some(({ name }) => name === volume))
      .map(({ name }) => name);
  assert.deepEqual(holders("caller"), ["context-fetch"]);
  assert.deepEqual(holders("secret"), ["scan-gate"]);
  assert.deepEqual(holders("registry"), ["push"]);
  assert.deepEqual(holders("tmp-build"), ["build"]);
  assert.deepEqual(holders("reports"), ["scan", "sbom", "scan-gate"]);
});

test("only what owns the files of an image is root, with no capability beyond the baseline", () => {
  const roots = containersOf(jobOf()).filter(({ securityContext }) => securityContext?.runAsUser === 0);
  assert.deepEqual(
    roots.map(({ name, securityContext }) => [name, securityContext?.capabilities?.add?.join(" ")]),
    [
      ["context-fetch", "CHOWN DAC_OVERRIDE FOWNER"],
      ["build", "CHOWN DAC_OVERRIDE FOWNER SETFCAP SETGID SETUID SYS_CHROOT"],
    ],
  );
  for (const { name, securityContext } of containersOf(jobOf())) {
    assert.deepEqual(securityContext?.capabilities?.drop, ["ALL"], name);
    assert.equal(securityContext?.allowPrivilegeEscalation, false, name);
    assert.equal(securityContext?.readOnlyRootFilesystem, name !== "build", name);
  }
  assert.deepEqual(podOf(jobOf())?.securityContext, { seccompProfile: { type: "RuntimeDefault" } });
});

test("volumes have the documented sizes, and every container has limits", () => {
  const sizes = Object.fromEntries(
    (podOf(jobOf())?.volumes ?? []).flatMap(({ name, emptyDir }) =>
      emptyDir ? [[name, emptyDir.sizeLimit]] : [],
    ),
  );
  assert.deepEqual(
    [sizes["context"], sizes["image"], sizes["reports"], sizes["tmp-build"], sizes["tmp-scan"]],
    ["4Gi", "10Gi", "512Mi", "12Gi", "8Gi"],
  );
  const limits = containersOf(jobOf()).map(({ name, resources }) => [
    name,
    Object.values(resources?.limits ?? {}),
  ]);
  assert.deepEqual(Object.fromEntries(limits)["build"], ["2", "4Gi", "12Gi"]);
  assert.deepEqual(Object.fromEntries(limits)["scan"], ["2", "3Gi", "1Gi"]);
});

test("full volumes do not end the pod, and a small node can take it", () => {
  const gi = (size: string) => Number(parseQuantity(size)) / 1e9 / 2 ** 30;
  const disks = containersOf(jobOf()).map(({ resources }) => ({
    limit: gi(resources?.limits?.["ephemeral-storage"] ?? "0"),
    request: gi(resources?.requests?.["ephemeral-storage"] ?? "0"),
  }));
  // The kubelet takes the largest of the init containers or the sum of the others.
  const ofPod = Math.max(...disks.map(({ limit }) => limit));
  const volumes = (podOf(jobOf())?.volumes ?? []).map(({ emptyDir }) => gi(emptyDir?.sizeLimit ?? "0"));
  const full = volumes.reduce((sum, size) => sum + size, 0);
  assert.ok(ofPod >= full + 1, `${ofPod} of ${full}`);
  assert.deepEqual([...new Set(disks.map(({ request }) => request))], [1]);
});

test("user namespaces, a sandbox and the egress gate are settings", () => {
  const spec = podOf(jobOf());
  assert.deepEqual([spec?.hostUsers, spec?.runtimeClassName], [undefined, undefined]);
  const other = jobOf(
    "registry.build_user_namespaces=on",
    "registry.build_runtime_class=gvisor",
    "builds.egress_gate=false",
  );
  assert.deepEqual([podOf(other)?.hostUsers, podOf(other)?.runtimeClassName], [false, "gvisor"]);
  assert.ok(!containersOf(other).some(({ name }) => name === "egress-gate"));
});

test("the Secret belongs to its Job and goes with it", () => {
  const job = jobOf();
  const made = { ...job, metadata: { ...job.metadata, uid: "job-uid" } };
  const secret = secretOfJob(made, { documents: "one", caller: "two", registry: "build:three" });
  assert.deepEqual(secret.metadata.ownerReferences, [
    { apiVersion: "batch/v1", kind: "Job", name: job.metadata.name, uid: "job-uid" },
  ]);
  const text = (key: string) => Buffer.from(secret.data?.[key] ?? "", "base64").toString();
  assert.deepEqual([text("documents"), text("token"), text("credential")], ["one", "two", "build:three"]);
  assert.ok(!JSON.stringify(job).includes("three"));
});
