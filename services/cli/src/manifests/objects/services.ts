// The seven services.

import { equals, not, type Template, text, when } from "../template/expression.ts";
import {
  claim,
  claimSpec,
  head,
  type Mount,
  type ObjectFile,
  optionalVariable,
  secretVariable,
  type V,
} from "./common.ts";
import { smtpVariables } from "./config.ts";
import { faceService, serviceObjects } from "./service.ts";

export function forwardingMount(v: V): Mount {
  return {
    name: "forwarding",
    at: "/forwarding",
    from: { secret: { secretName: v.secrets.forwarding, defaultMode: 0o440 } },
    readOnly: true,
  };
}

export function serviceFiles(v: V): ObjectFile[] {
  return [
    gatewayExternal(v),
    gatewayInternal(v),
    identity(v),
    lifecycle(v),
    storage(v),
    builds(v),
    opsWatchdog(v),
  ];
}

function file(name: string, about: string, objects: readonly Template[]): ObjectFile {
  return { file: `${name}.yaml`, about, objects };
}

function gatewayExternal(v: V): ObjectFile {
  const name = "gateway-external";
  const { serviceType, serviceAnnotations } = v.gatewayExternal;
  return file(name, "The external face: the panel, and people's programs.", [
    ...serviceObjects(v, {
      name,
      sized: v.gatewayExternal,
      replicas: v.gatewayExternal.replicas,
      ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
      graceSeconds: 45,
      drains: true,
    }),
    faceService(v, {
      name,
      port: 8080,
      extra: {
        type: serviceType,
        // A load balancer that hides addresses would make all visitors share one limit.
        externalTrafficPolicy: when(not(equals(serviceType, "ClusterIP")), "Local"),
        annotations: when(serviceAnnotations, serviceAnnotations),
      },
    }),
    ingress(v),
  ]);
}

function ingress(v: V): Template {
  const hosts = ["console", "op.console"].map((prefix) => text`${prefix}.${v.rootDomain}`);
  const backend = { service: { name: "gateway-external", port: { name: "http" } } };
  return when(v.ingress.enabled, {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: {
      name: "panel",
      namespace: v.namespaces.control,
      annotations: when(v.ingress.annotations, v.ingress.annotations),
    },
    spec: {
      ingressClassName: when(v.ingress.className, v.ingress.className),
      tls: [{ hosts, secretName: v.ingress.tlsSecret }],
      rules: hosts.map((host) => ({ host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } })),
    },
  });
}

function gatewayInternal(v: V): ObjectFile {
  const name = "gateway-internal";
  return file(name, "The internal face: proxy, login gate, Jobs.", [
    ...serviceObjects(v, {
      name,
      sized: v.gatewayInternal,
      replicas: v.gatewayInternal.replicas,
      env: [{ name: "SVC_TOKENS_DIR", value: "/tokens" }],
      ports: [{ name: "http", containerPort: 8081, protocol: "TCP" }],
      mounts: [
        {
          name: "tokens",
          at: "/tokens",
          from: { secret: { secretName: v.secrets.tokens, defaultMode: 0o440 } },
          readOnly: true,
        },
      ],
      graceSeconds: 45,
      drains: true,
    }),
    faceService(v, { name, port: 8081 }),
  ]);
}

function identity(v: V): ObjectFile {
  return file("identity", "Accounts, sessions, mail, the audit log.", [
    ...serviceObjects(v, {
      name: "identity",
      sized: v.identity,
      replicas: v.identity.replicas,
      hasDatabase: true,
      env: [when(v.secrets.smtp, smtpVariables(v.secrets.smtp))],
      graceSeconds: 30,
    }),
  ]);
}

function lifecycle(v: V): ObjectFile {
  return file("lifecycle", "Game servers.", [
    ...serviceObjects(v, {
      name: "lifecycle",
      sized: v.lifecycle,
      replicas: v.lifecycle.replicas,
      account: true,
      hasDatabase: true,
      mounts: [forwardingMount(v)],
      graceSeconds: 40,
    }),
  ]);
}

const uploads = claim("uploads", "/uploads", "svc-uploads");

function storage(v: V): ObjectFile {
  return file("storage", "Worlds: backups, restores, files.", [
    ...serviceObjects(v, {
      name: "storage",
      sized: v.storage,
      replicas: v.storage.replicas,
      account: true,
      hasDatabase: true,
      mounts: [claim("archive", "/archive", "svc-archive"), uploads],
      // Time for byte transfers to finish.
      graceSeconds: 120,
    }),
  ]);
}

function builds(v: V): ObjectFile {
  const fromRegistry = (variable: string, key: string) =>
    when(v.registry.enabled, secretVariable(variable, v.secrets.registry, key));
  return file("builds", "Images: the whitelist, builds, scans.", [
    ...serviceObjects(v, {
      name: "builds",
      sized: v.builds,
      replicas: v.builds.replicas,
      account: true,
      hasDatabase: true,
      env: [
        secretVariable("SVC_BUILD_TOKEN", v.secrets.tokens, "build"),
        fromRegistry("SVC_REGISTRY_PUSH_TOKEN", "push"),
        fromRegistry("SVC_REGISTRY_PRUNE_TOKEN", "prune"),
        // It writes every image, so it is there only while somebody brings images back.
        when(
          v.registry.enabled,
          optionalVariable("SVC_REGISTRY_RESTORE_TOKEN", v.secrets.registry, "restore"),
        ),
      ],
      mounts: [uploads],
      // A zip that is checked lies there.
      tmpSize: "1Gi",
      graceSeconds: 60,
    }),
  ]);
}

/** Database bundles, and what ops-watchdog remembers, at the paths that are its defaults. */
export const backups = claim("backups", "/var/lib/svc", "svc-database-backups");

function opsWatchdog(v: V): ObjectFile {
  const name = "ops-watchdog";
  return file(name, "Bundles of the database, updates. One pod: its volume has one writer.", [
    {
      ...head({
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        name: "svc-database-backups",
        namespace: v.namespaces.control,
      }),
      spec: claimSpec(v.volumes.databaseBackups),
    },
    ...serviceObjects(v, {
      name,
      sized: v.opsWatchdog,
      replicas: 1,
      account: true,
      hasDatabase: true,
      env: [when(v.secrets.smtp, smtpVariables(v.secrets.smtp))],
      mounts: [backups],
      graceSeconds: 60,
      isReplacedFirst: true,
    }),
  ]);
}
