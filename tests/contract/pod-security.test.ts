// The Pod Security Standard `restricted`, as Kubernetes documents it, asked of every pod that we make or ship. What breaks
// it is written down here by name and in ADR 0017; nothing else does.

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { loadSettings } from "@svc/config";
import type { buildJobs } from "@svc/proto";
import { parseAllDocuments } from "yaml";
import { buildJob } from "../../services/builds/src/build/job.ts";
import { probeJob } from "../../services/builds/src/build/user-namespaces.ts";
import { settings as buildsSettings } from "../../services/builds/src/config.ts";
import { settings as lifecycleSettings } from "../../services/lifecycle/src/config.ts";
import { statefulSetOf } from "../../services/lifecycle/src/reconcile/stateful-set.ts";
import { aServer } from "../../services/lifecycle/src/testing/observed.ts";
import { settings as storageSettings } from "../../services/storage/src/config.ts";
import { worldJob } from "../../services/storage/src/job/spec.ts";

type Context = {
  runAsNonRoot?: boolean;
  runAsUser?: number;
  seccompProfile?: { type?: string };
  allowPrivilegeEscalation?: boolean;
  privileged?: boolean;
  procMount?: string;
  capabilities?: { add?: string[]; drop?: string[] };
};
type Container = { name: string; securityContext?: Context; ports?: { hostPort?: number }[] };
type PodSpec = {
  securityContext?: Context;
  containers: Container[];
  initContainers?: Container[];
  volumes?: Record<string, unknown>[];
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  automountServiceAccountToken?: boolean;
  enableServiceLinks?: boolean;
};

const volumeTypes = [
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret",
];

/** What each container of a pod breaks, by its name; `pod` for what is the pod's own. */
function broken(spec: PodSpec): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  const note = (who: string, rule: string, isBroken: boolean) => {
    if (isBroken) found[who] = [...(found[who] ?? []), rule];
  };
  note("pod", "host namespaces", [spec.hostNetwork, spec.hostPID, spec.hostIPC].some(Boolean));
  const isKnown = (volume: Record<string, unknown>) => volumeTypes.some((type) => type in volume);
  note("pod", "volume types", !(spec.volumes ?? []).every(isKnown));
  for (const { name, securityContext: own = {}, ports = [] } of [
    ...(spec.initContainers ?? []),
    ...spec.containers,
  ]) {
    const context = { ...spec.securityContext, ...own };
    const { add = [], drop = [] } = own.capabilities ?? {};
    note(name, "privileged", own.privileged === true || own.procMount !== undefined);
    note(
      name,
      "host ports",
      ports.some(({ hostPort }) => hostPort !== undefined),
    );
    note(name, "privilege escalation", own.allowPrivilegeEscalation !== false);
    note(name, "runs as root", context.runAsNonRoot !== true || context.runAsUser === 0);
    note(name, "seccomp", context.seccompProfile?.type !== "RuntimeDefault");
    note(name, "keeps capabilities", !drop.includes("ALL"));
    note(
      name,
      "adds capabilities",
      add.some((one) => one !== "NET_BIND_SERVICE"),
    );
  }
  return found;
}

const read = (file: string) =>
  parseAllDocuments(readFileSync(resolve(import.meta.dirname, "../../deploy/kubernetes", file), "utf8")).map(
    (document): unknown => document.toJS(),
  );

/** The pods of a manifest, however deep. */
function podsIn(value: unknown): PodSpec[] {
  if (value === null || typeof value !== "object") return [];
  if ("containers" in value) return [value as PodSpec];
  return Object.values(value).flatMap(podsIn);
}

test("every pod of an installation is restricted but for the port over which nodes pull images", () => {
  const files = globSync("base/*.yaml", { cwd: resolve(import.meta.dirname, "../../deploy/kubernetes") });
  const pods = files.flatMap((file) => read(file).flatMap(podsIn));
  assert.ok(pods.length >= 13, `${pods.length} pods`);
  const found = pods.map(broken).filter((one) => Object.keys(one).length > 0);
  assert.deepEqual(found, [{ gate: ["host ports"] }]);
});

const { lifecycle } = loadSettings(lifecycleSettings, { overrides: ["lifecycle.platform_image=svc:1"] });
const podOf = (labels: Record<string, string>) => {
  const server = aServer({}, { labels });
  const set = statefulSetOf({ server, settings: lifecycle, password: "p", isForwarded: true }, 1);
  return set.spec.template.spec as unknown as PodSpec;
};

for (const [name, labels] of [
  ["a user's server", {}],
  ["the login gate", { "svc.internal/system-role": "login" }],
] as const) {
  test(`the pod of ${name} is restricted`, () => {
    assert.deepEqual(broken(podOf(labels)), {});
  });
}

test("the pod of a server has neither a token of the cluster nor the addresses of other servers", () => {
  const { automountServiceAccountToken, enableServiceLinks } = podOf({});
  assert.deepEqual([automountServiceAccountToken, enableServiceLinks], [false, false]);
});

test("without a platform image the pod of a server is restricted", () => {
  const settings = { ...lifecycle, platform_image: "" };
  const set = statefulSetOf({ server: aServer(), settings, password: "p", isForwarded: true }, 1);
  assert.deepEqual(broken(set.spec.template.spec as unknown as PodSpec), {});
});

test("a world Job is restricted", () => {
  const settings = loadSettings(storageSettings, { overrides: ["storage.agent_image=svc:1"] });
  const job = worldJob(settings, {
    name: "job-1",
    server: "survival",
    manager: "svc-files",
    task: { mode: "mkdir", path: "a" },
    deadlineMs: 1_000,
    world: { claim: "world-survival-0", mode: "rw" },
    secret: { token: "t" },
    pin: { name: "node" },
  });
  const spec = job.spec?.template.spec as unknown as PodSpec;
  assert.deepEqual(broken(spec), {});
});

test("the Job of a build is restricted but for the two steps that own the files of an image", () => {
  const settings = loadSettings(buildsSettings, { overrides: ["builds.agent_image=svc:1"] });
  const task = { build_id: "b" } as buildJobs.BuildTask;
  const job = buildJob(settings, { id: "b", task, hasRegistryCredential: true });
  const root = ["runs as root", "adds capabilities"];
  const spec = job.spec?.template.spec as unknown as PodSpec;
  assert.deepEqual(broken(spec), { "context-fetch": root, build: root });
  assert.deepEqual(broken(probeJob(settings).spec?.template.spec as unknown as PodSpec), {});
});

for (const [name, enforced] of [
  ["minecraft", "restricted"],
  ["svc-build", "baseline"],
] as const) {
  test(`the namespace ${name} refuses what is not ${enforced}, and names what is not restricted`, () => {
    const namespaces = read("prerequisites/namespaces.yaml") as {
      metadata: { name: string; labels?: object };
    }[];
    const found = namespaces.find(({ metadata }) => metadata.name === name);
    const level = "pod-security.kubernetes.io";
    assert.deepEqual(found?.metadata.labels, {
      [`${level}/enforce`]: enforced,
      [`${level}/warn`]: "restricted",
      [`${level}/audit`]: "restricted",
    });
  });
}
