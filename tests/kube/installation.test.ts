// Every object of an installation on a real API server, and what the shipped Roles give. SVC_KUBE_LANE names the kubeconfig,
// as in conformance.test.ts. Each set of values has namespaces of its own, beside the other tests.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { connectKube, type Kube, resources } from "@svc/kube";
import { until } from "@svc/local-stack/testing";
import { diagnoseCluster } from "../../services/cli/src/cluster/doctor/doctor.ts";
import type { Finding } from "../../services/cli/src/findings.ts";
import {
  installation,
  type KubernetesObject,
  objectsOf,
  prerequisites,
} from "../../services/cli/src/manifests/installation.ts";
import { readValues } from "../../services/cli/src/manifests/values/read.ts";
import type { Values } from "../../services/cli/src/manifests/values/schema.ts";
import { minecraftServerCrd } from "../../services/lifecycle/src/crd/definition.ts";
import { apply, olderVersions, pathOf } from "./apply.ts";
import { assertHolds } from "./holds.ts";

const lane = process.env["SVC_KUBE_LANE"];
const deploy = resolve(import.meta.dirname, "../../deploy");
const suffix = randomBytes(3).toString("hex");
const sets = ["defaults", ...readdirSync(join(deploy, "values")).map((file) => file.replace(".yaml", ""))];

function valuesOf(set: string): Values {
  const values = readValues(set === "defaults" ? undefined : join(deploy, `values/${set}.yaml`));
  const own = (name: string) => `${name}-${set.slice(0, 8)}-${suffix}`;
  return { ...values, namespaces: { control: own("svc"), game: own("game"), build: own("build") } };
}

/** Two installations share no volume and no binding; priorities and roles are the same for both. */
function apart(object: KubernetesObject, set: string): KubernetesObject {
  const own = (name: string) => `${name}-${set.slice(0, 8)}-${suffix}`;
  const copy = structuredClone(object) as KubernetesObject & { spec?: { volumeName?: string } };
  if (["PersistentVolume", "ClusterRoleBinding"].includes(copy.kind))
    copy.metadata.name = own(copy.metadata.name);
  if (copy.spec?.volumeName) copy.spec.volumeName = own(copy.spec.volumeName);
  return copy;
}

const objectsFor = (set: string) => {
  const values = valuesOf(set);
  return [...prerequisites, ...installation]
    .flatMap((file) => objectsOf(file, values))
    .map((object) => apart(object, set));
};

describe("an installation on a real API server", () => {
  if (!lane) {
    test("skipped: set SVC_KUBE_LANE to the kubeconfig of a real API server", (t) =>
      t.skip("SVC_KUBE_LANE is not set"));
    return;
  }
  let kube: Kube;
  let older: Map<string, string>;

  before(async () => {
    kube = connectKube({ kubeconfigFile: lane });
    await kube.create(resources.customResourceDefinitions, minecraftServerCrd()).catch(() => undefined);
    older = await olderVersions(kube);
  });
  after(async () => {
    const bindings = sets.flatMap((set) =>
      objectsFor(set).filter(({ kind }) => kind === "ClusterRoleBinding"),
    );
    for (const object of bindings) await kube.transport.request({ method: "DELETE", path: pathOf(object) });
    for (const set of sets) {
      for (const name of Object.values(valuesOf(set).namespaces))
        await kube.transport.request({ method: "DELETE", path: `/api/v1/namespaces/${name}` });
    }
    kube.close();
  });

  for (const set of sets) {
    test(`every object with the values ${set} is taken as it is, without a warning`, async (t) => {
      for (const [kind, version] of older) t.diagnostic(`this server has no newer ${kind} than ${version}`);
      const objects = objectsFor(set);
      // A dry run needs the namespace.
      for (const object of objects) if (object.kind === "Namespace") await apply(kube, object, { older });
      for (const object of objects) {
        const { metadata: _, apiVersion: __, ...wanted } = object;
        await apply(kube, object, { older, dryRun: true });
        assertHolds(await apply(kube, object, { older }), wanted, `${object.kind} ${object.metadata.name}`);
      }
    });
  }

  test("the controllers make every pod: no account, priority or volume is missing", async () => {
    const { control } = valuesOf("ha").namespaces;
    const pods = () =>
      kube
        .list(resources.pods, { namespace: control })
        .then(({ items }) => items.map(({ metadata }) => metadata));
    const wanted = objectsFor("ha").reduce((sum, { kind, spec }) => {
      const { replicas = 1 } = (spec ?? {}) as { replicas?: number };
      return ["Deployment", "StatefulSet", "Job"].includes(kind) ? sum + replicas : sum;
    }, 0);
    await until(async () => (await pods()).length === wanted, 60_000, `${wanted} pods`);
  });

  test("svc doctor --cluster finds what is there, and names what is not", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "svc-doctor-")), "values.yaml");
    const { namespaces } = valuesOf("defaults");
    writeFileSync(file, JSON.stringify({ namespaces }));
    const problems = async (kubeconfig?: string) => {
      const { json, exitCode } = await diagnoseCluster({ values: file, ...(kubeconfig && { kubeconfig }) });
      assert.equal(exitCode, 1);
      const { findings } = json as { findings: Finding[] };
      return new Map(findings.map(({ check, ok, detail }) => [check, ok ? "fine" : detail]));
    };
    try {
      const found = await problems(lane);
      // An API server before 1.25 leaves the rules of a schema out; what it adds is no difference.
      assert.match(
        found.get("custom resource") ?? "",
        /^fine$|^is of another release \(\S+x-kubernetes-validations/,
      );
      assert.match(found.get("Secret svc-nats") ?? "", /^is missing/);
      await until(
        async () => /waits for a node/.test((await problems(lane)).get("Deployment lifecycle") ?? ""),
        30_000,
        "pods that wait: this API server has no scheduler",
      );
      assert.equal(found.get("Service gateway-internal"), undefined);
      const service = { name: "gateway-internal", namespace: namespaces.control };
      await kube.remove(resources.services, service);
      assert.match(
        (await problems(lane)).get("Service gateway-internal") ?? "",
        /^is missing; run svc manifests/,
      );
      const nobody = process.env["SVC_KUBE_LANE_NOBODY"];
      if (nobody) await assert.rejects(problems(nobody), /this kubeconfig may not read all of svc/);
    } finally {
      rmSync(dirname(file), { recursive: true });
    }
  });

  test("each account has what its Role gives, in its namespaces, and nothing else", async () => {
    const { control, game, build } = valuesOf("defaults").namespaces;
    const check = async ([account, namespace, verb, what, may]: Row) => {
      const [group = "", resource = "", subresource] = what.split("/");
      const review = (await kube.transport.request({
        method: "POST",
        path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
        body: {
          apiVersion: "authorization.k8s.io/v1",
          kind: "SubjectAccessReview",
          spec: {
            user: `system:serviceaccount:${control}:${account}`,
            groups: ["system:serviceaccounts", `system:serviceaccounts:${control}`, "system:authenticated"],
            resourceAttributes: { namespace, verb, group, resource, ...(subresource && { subresource }) },
          },
        },
      })) as { status: { allowed: boolean } };
      const where = namespace ?? "the cluster";
      assert.equal(review.status.allowed, may, `${account}: ${verb} ${what} in ${where}`);
    };
    for (const rows of Object.values(
      Object.groupBy(rights({ control, game, build }), ([account]) => account),
    ))
      await Promise.all((rows ?? []).map(check));
  });
});

type Row = [account: string, namespace: string | undefined, verb: string, what: string, may: boolean];
const verbs = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
const kinds = [
  "/pods",
  "/pods/exec",
  "/pods/log",
  "/secrets",
  "/configmaps",
  "/services",
  "/persistentvolumeclaims",
  "/serviceaccounts/token",
  "/events",
  "apps/statefulsets",
  "apps/deployments",
  "batch/jobs",
  "coordination.k8s.io/leases",
  "metrics.k8s.io/pods",
  "svc.internal/minecraftservers",
  "svc.internal/minecraftservers/status",
  "svc.internal/minecraftservers/finalizers",
  "rbac.authorization.k8s.io/roles",
  "rbac.authorization.k8s.io/rolebindings",
];
const clusterKinds = [
  "/nodes",
  "/persistentvolumes",
  "/namespaces",
  "rbac.authorization.k8s.io/clusterroles",
];

/** Verbs that the code of each service uses, by kind. */
const used: Record<string, { place: "game" | "build" | "cluster"; what: Record<string, string> }[]> = {
  lifecycle: [
    {
      place: "game",
      what: {
        "svc.internal/minecraftservers": "get list watch create update patch delete",
        "svc.internal/minecraftservers/status": "get update patch",
        "svc.internal/minecraftservers/finalizers": "update",
        "apps/statefulsets": "get list watch create update patch delete",
        "/services": "get list watch create update patch",
        "/secrets": "get create update",
        "/pods": "get list watch delete",
        "/pods/log": "get",
        "metrics.k8s.io/pods": "list",
        "/persistentvolumeclaims": "get",
        "batch/jobs": "get list",
        "/events": "create patch",
        "coordination.k8s.io/leases": "get create update",
      },
    },
    { place: "cluster", what: { "/nodes": "get list watch patch" } },
  ],
  storage: [
    {
      place: "game",
      what: {
        "svc.internal/minecraftservers": "get patch",
        "batch/jobs": "get list create patch delete",
        "/pods": "get list create delete",
        "/pods/log": "get",
        "/secrets": "create",
        "apps/statefulsets": "get",
        "/persistentvolumeclaims": "get list create delete",
        "coordination.k8s.io/leases": "get create update",
      },
    },
    { place: "cluster", what: { "/nodes": "list", "/persistentvolumes": "get" } },
  ],
  builds: [
    {
      place: "build",
      what: {
        "batch/jobs": "get list create delete",
        "/pods": "list",
        "/pods/log": "get",
        "/secrets": "create delete",
        "coordination.k8s.io/leases": "get create update",
      },
    },
  ],
  "ops-watchdog": [
    { place: "game", what: { "svc.internal/minecraftservers": "get list" } },
    { place: "cluster", what: { "/nodes": "list" } },
  ],
  // Parts without an account of their own run as this one, without a token.
  default: [],
};

function rights(at: { control: string; game: string; build: string }): Row[] {
  return Object.entries(used).flatMap(([account, grants]) =>
    (["control", "game", "build", "cluster"] as const).flatMap((place) => {
      const given = grants.find((grant) => grant.place === place)?.what ?? {};
      const all = place === "cluster" ? clusterKinds : kinds;
      return all.flatMap((what) =>
        verbs.map((verb): Row => {
          const may = (given[what] ?? "").split(" ").includes(verb);
          return [account, place === "cluster" ? undefined : at[place], verb, what, may];
        }),
      );
    }),
  );
}
