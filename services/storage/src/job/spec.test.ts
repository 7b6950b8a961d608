// Pod Security Standards as Kubernetes documents them, checked for every kind of Job that storage creates (docs/reference/world-lock.md#jobs).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { loadSettings } from "@svc/config";
import { settings as schema } from "../config.ts";
import { type JobSpec, needsSecret, secretOfJob, worldJob } from "./spec.ts";

const settings = loadSettings(schema, { overrides: ["storage.agent_image=svc:1"] });
const base = { name: "job-survival-1", server: "survival", deadlineMs: 1_000 } as const;
const sha256 = "0".repeat(64);
const url = "http://gateway-internal.svc:8081/api/v1/internal/archives/1";
const archive = { kind: "archive", name: "survival-1.tar.zst" } as const;

const wishes: Record<string, JobSpec> = {
  backup: {
    ...base,
    manager: "svc-backup",
    task: { mode: "backup", to: archive, keep_free: 0.1 },
    world: { claim: "world-survival-0", mode: "ro" },
    archive: "rw",
  },
  restore: {
    ...base,
    manager: "svc-restore",
    task: { mode: "restore", from: archive, sha256 },
    world: { claim: "world-survival-0", mode: "rw" },
    archive: "ro",
  },
  "move, source": {
    ...base,
    manager: "svc-backup",
    task: { mode: "backup", to: { kind: "url", url }, keep_free: 0.1 },
    secret: { token: "hush" },
    world: { claim: "world-survival-0", mode: "ro" },
    node: "local-1",
  },
  "move, target": {
    ...base,
    manager: "svc-restore",
    task: { mode: "restore", from: { kind: "url", url }, sha256, compare: true },
    secret: { token: "hush" },
    world: { claim: "world-survival-m1", mode: "rw" },
    node: "local-2",
  },
  verify: { ...base, manager: "svc-verify", task: { mode: "verify", from: archive }, archive: "ro" },
  files: {
    ...base,
    manager: "svc-files",
    task: { mode: "list", path: "" },
    world: { claim: "world-survival-0", mode: "ro" },
  },
};

type Container = Record<string, unknown>;
type Spec = Record<string, unknown> & { containers: Container[] };
type Rule = [name: string, breaks: (spec: Spec, container: Container) => boolean];

const baselineCapabilities = new Set(
  "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT".split(
    " ",
  ),
);
const contextOf = ({ securityContext }: Record<string, unknown>) => (securityContext ?? {}) as Container;
const podContextOf = contextOf;
const addedBy = (container: Container) =>
  ((contextOf(container)["capabilities"] as { add?: string[] } | undefined)?.add ?? []) as string[];
const volumesOf = ({ volumes }: Spec) => (volumes ?? []) as Record<string, unknown>[];

const baseline: Rule[] = [
  ["host namespaces", (spec) => ["hostNetwork", "hostPID", "hostIPC"].some((one) => spec[one] !== undefined)],
  ["privileged", (_, container) => contextOf(container)["privileged"] !== undefined],
  ["capabilities", (_, container) => addedBy(container).some((one) => !baselineCapabilities.has(one))],
  ["hostPath volumes", (spec) => volumesOf(spec).some((volume) => "hostPath" in volume)],
  ["host ports", (_, container) => container["ports"] !== undefined],
  [
    "AppArmor, SELinux, procMount, sysctls",
    (spec, container) =>
      ["appArmorProfile", "seLinuxOptions", "procMount"].some((one) => one in contextOf(container)) ||
      ["appArmorProfile", "seLinuxOptions", "sysctls"].some((one) => one in podContextOf(spec)),
  ],
];

const restricted: Rule[] = [
  [
    "volume types",
    (spec) =>
      volumesOf(spec).some(
        (one) => !["persistentVolumeClaim", "emptyDir", "secret"].some((type) => type in one),
      ),
  ],
  ["privilege escalation", (_, container) => contextOf(container)["allowPrivilegeEscalation"] !== false],
  ["runs as root", (spec) => podContextOf(spec)["runAsNonRoot"] !== true],
  ["user 0", (spec) => podContextOf(spec)["runAsUser"] === 0],
  [
    "seccomp",
    (spec) =>
      (podContextOf(spec)["seccompProfile"] as { type?: string } | undefined)?.type !== "RuntimeDefault",
  ],
  [
    "drops all capabilities",
    (_, container) =>
      !(contextOf(container)["capabilities"] as { drop?: string[] } | undefined)?.drop?.includes("ALL"),
  ],
  ["adds capabilities", (_, container) => addedBy(container).some((one) => one !== "NET_BIND_SERVICE")],
];

const broken = (rules: readonly Rule[], spec: Spec) =>
  rules.filter(([, breaks]) => spec.containers.some((one) => breaks(spec, one))).map(([name]) => name);

for (const [kind, requested] of Object.entries(wishes)) {
  describe(`the Job of: ${kind}`, () => {
    const job = worldJob(settings, { ...requested, pin: undefined });
    const spec = job.spec?.template.spec as unknown as Spec;
    const [container] = spec.containers as [Container];

    test("meets the restricted standard, and has the user of servers, whose files and secrets it reads", () => {
      assert.deepEqual(broken([...baseline, ...restricted], spec), []);
      const { runAsUser, runAsGroup, fsGroup } = podContextOf(spec) as Record<string, unknown>;
      assert.deepEqual([runAsUser, runAsGroup, fsGroup], [1000, 1000, 1000]);
    });

    test("has no credentials: a service account without a Role, no token, its secret in neither arguments nor environment", () => {
      assert.deepEqual(
        [spec["serviceAccountName"], spec["automountServiceAccountToken"], spec["enableServiceLinks"]],
        ["world-jobs", false, false],
      );
      assert.ok(!JSON.stringify(job).includes("hush"));
      const names = (container["env"] as { name: string }[]).map(({ name }) => name);
      assert.deepEqual(names, ["SVC_TASK"]);
    });

    test("writes only to its volumes, has a deadline and is not retried", () => {
      assert.equal(contextOf(container)["readOnlyRootFilesystem"], true);
      const mounts = container["volumeMounts"] as { name: string; readOnly?: boolean }[];
      const isReadOnly = (name: string) => mounts.find((one) => one.name === name)?.readOnly;
      assert.equal(isReadOnly("world"), requested.world && requested.world.mode === "ro");
      assert.equal(isReadOnly("archive"), requested.archive && requested.archive === "ro");
      const { backoffLimit, activeDeadlineSeconds, ttlSecondsAfterFinished } = job.spec ?? {};
      assert.deepEqual([backoffLimit, activeDeadlineSeconds], [0, 1]);
      assert.ok((ttlSecondsAfterFinished ?? 0) > 0);
      const { requests, limits } = container["resources"] as { requests: unknown; limits: unknown };
      assert.deepEqual(limits, requests);
    });
  });
}

test("the Secret of a Job has its name, is owned by it, and only its user can read the file", () => {
  const requested = { ...(wishes["move, source"] as JobSpec), pin: undefined };
  const job = worldJob(settings, requested);
  const made = { ...job, metadata: { ...job.metadata, uid: "job-uid" } };
  const secret = secretOfJob(made, { token: "hush", content: Buffer.from([0, 255]) });
  const { name } = job.metadata;
  assert.deepEqual(secret.metadata.ownerReferences, [
    { apiVersion: "batch/v1", kind: "Job", name, uid: "job-uid" },
  ]);
  assert.deepEqual(secret.data, { token: "aHVzaA==", content: "AP8=" });
  const volume = job.spec?.template.spec?.volumes?.find((one) => one.name === "secret");
  assert.deepEqual(volume?.secret, { secretName: secret.metadata.name, defaultMode: 0o400 });
  assert.deepEqual(
    [needsSecret(job), needsSecret(worldJob(settings, { ...(wishes["backup"] as JobSpec), pin: undefined }))],
    [true, false],
  );
});

test("an image with more than the agent gets the command to run", () => {
  const one = loadSettings(schema, { overrides: [`storage.agent_command=["node", "agent.ts"]`] });
  const containerOf = (from: typeof one) =>
    worldJob(from, { ...(wishes["backup"] as JobSpec), pin: undefined }).spec?.template.spec?.containers[0];
  assert.deepEqual(containerOf(one)?.command, ["node", "agent.ts"]);
  assert.equal(containerOf(settings)?.command, undefined);
});
