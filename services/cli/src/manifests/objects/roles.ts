// What each service may do in the cluster, and nothing else. The Jobs that they make run under accounts without a Role.

import type { Template } from "../template/expression.ts";
import { head, type ObjectFile, type V } from "./common.ts";

type Rule = { apiGroups: string[]; resources: string[]; verbs: string[] };

const group = "rbac.authorization.k8s.io";
const svc = "svc.internal";

function rule(apiGroup: string, resource: string, verbs: string): Rule {
  return { apiGroups: [apiGroup], resources: [resource], verbs: verbs.split(" ") };
}

type Grant = { account: string; name: string; namespace?: Template; rules: readonly Rule[] };

/** A Role in `namespace`, or one of the whole cluster, and its binding to a service's account. */
function granted(v: V, { account, name, namespace, rules }: Grant): Template[] {
  const apiVersion = `${group}/v1`;
  const prefix = namespace === undefined ? "Cluster" : "";
  return [
    { ...head({ apiVersion, kind: `${prefix}Role`, name, namespace }), rules },
    {
      ...head({ apiVersion, kind: `${prefix}RoleBinding`, name, namespace }),
      roleRef: { apiGroup: group, kind: `${prefix}Role`, name },
      subjects: [{ kind: "ServiceAccount", name: account, namespace: v.namespaces.control }],
    },
  ];
}

export function roleFile(v: V): ObjectFile {
  return {
    file: "roles.yaml",
    about:
      "Accounts, and everything that each may do in the cluster. Jobs run under accounts without a Role.",
    objects: [
      ...accounts.map((name) =>
        head({ apiVersion: "v1", kind: "ServiceAccount", name, namespace: v.namespaces.control }),
      ),
      ...lifecycleRoles(v),
      ...storageRoles(v),
      ...buildsRoles(v),
      ...watchdogRoles(v),
    ],
  };
}

/** Services that use the Kubernetes API. */
const accounts = ["lifecycle", "storage", "builds", "ops-watchdog"];

/** An account of Jobs: no Role, no token. */
function jobAccount(name: string, namespace: Template): Template {
  return {
    ...head({ apiVersion: "v1", kind: "ServiceAccount", name, namespace }),
    automountServiceAccountToken: false,
  };
}

const leases = rule("coordination.k8s.io", "leases", "get create update");
const podLogs = rule("", "pods/log", "get");

/** Everything about game servers, reading and cordoning nodes, and nothing else. */
function lifecycleRoles(v: V): Template[] {
  return [
    ...granted(v, {
      account: "lifecycle",
      name: "svc-lifecycle",
      namespace: v.namespaces.game,
      rules: [
        rule(svc, "minecraftservers", "get list watch create update patch delete"),
        rule(svc, "minecraftservers/status", "get update patch"),
        // delete: after a move the stopped set is replaced by one with the new claim; claims stay.
        rule("apps", "statefulsets", "get list watch create update patch delete"),
        rule("", "services", "get list watch create update patch"),
        // Passwords and forwarding secrets are read by name and created when missing, never listed. Each start writes
        // a new forwarding secret.
        rule("", "secrets", "get create update"),
        rule("", "pods", "get list watch delete"),
        podLogs,
        rule("metrics.k8s.io", "pods", "list"),
        rule("", "persistentvolumeclaims", "get"),
        // Jobs show who holds a world; storage creates them.
        rule("batch", "jobs", "get list"),
        rule("", "events", "create patch"),
        leases,
        // Owner references that block the owner's deletion need this where that admission is on.
        rule(svc, "minecraftservers/finalizers", "update"),
      ],
    }),
    ...granted(v, {
      account: "lifecycle",
      name: "svc-lifecycle-nodes",
      rules: [rule("", "nodes", "get list watch patch")],
    }),
  ];
}

/** Jobs on worlds and their locks; nodes and volumes for moves. */
function storageRoles(v: V): Template[] {
  return [
    jobAccount("world-jobs", v.namespaces.game),
    ...granted(v, {
      account: "storage",
      name: "svc-storage",
      namespace: v.namespaces.game,
      rules: [
        // The maintenance lock is an annotation of the server; the rest of the server belongs to lifecycle.
        rule(svc, "minecraftservers", "get patch"),
        rule("batch", "jobs", "get list create patch delete"),
        // Pods of Jobs, which keep a claim in use until they are gone, and of drills, which boot a copy of a server.
        rule("", "pods", "get list create delete"),
        // One-time tokens and contents of Jobs; each belongs to its Job and is deleted with it. Created, never read.
        rule("", "secrets", "create"),
        podLogs,
        rule("apps", "statefulsets", "get"),
        // The reaper deletes claims; a drill creates one of its own.
        rule("", "persistentvolumeclaims", "get list create delete"),
        leases,
      ],
    }),
    ...granted(v, {
      account: "storage",
      name: "svc-storage-moves",
      rules: [rule("", "nodes", "list"), rule("", "persistentvolumes", "get")],
    }),
  ];
}

/** Jobs of builds, in a namespace of their own. */
function buildsRoles(v: V): Template[] {
  return [
    jobAccount("build-jobs", v.namespaces.build),
    ...granted(v, {
      account: "builds",
      name: "svc-builds",
      namespace: v.namespaces.build,
      rules: [
        rule("batch", "jobs", "get list create delete"),
        rule("", "pods", "list"),
        podLogs,
        // One-time tokens and credentials of one Job, deleted with it or once it has ended. Never read.
        rule("", "secrets", "create delete"),
        leases,
      ],
    }),
  ];
}

/** Reading the servers, which go into every database bundle and are watched, and the nodes. */
function watchdogRoles(v: V): Template[] {
  const account = "ops-watchdog";
  return [
    ...granted(v, {
      account,
      name: "svc-ops-watchdog",
      namespace: v.namespaces.game,
      rules: [rule(svc, "minecraftservers", "get list")],
    }),
    ...granted(v, { account, name: "svc-ops-watchdog-nodes", rules: [rule("", "nodes", "list")] }),
  ];
}
