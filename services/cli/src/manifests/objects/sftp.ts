// SFTP for files of worlds (docs/reference/sftp.md): an edge like the proxy, without the mesh, a database or the cluster.

import { choose, equals, not, type Template, text, when } from "../template/expression.ts";
import { externalUrl, internalUrl } from "./addresses.ts";
import {
  asUser,
  confined,
  head,
  healthPorts,
  healthVariables,
  labelsOf,
  type Mount,
  type ObjectFile,
  placement,
  probes,
  resourcesOf,
  scratch,
  selectorOf,
  sftpPort,
  user,
  type V,
  volumeMountsOf,
  volumesOf,
} from "./common.ts";
import { disruptionBudget, scrapeAnnotations } from "./service.ts";

const name = "sftp";

export function sftpFile(v: V): ObjectFile {
  const { enabled, serviceType, serviceAnnotations, port } = v.sftp;
  const objects: Template[] = [
    deployment(v),
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: {
        name,
        namespace: v.namespaces.control,
        labels: labelsOf(name),
        annotations: when(serviceAnnotations, serviceAnnotations),
      },
      spec: {
        type: serviceType,
        // Keeps client addresses, which the limits per address need.
        externalTrafficPolicy: when(not(equals(serviceType, "ClusterIP")), "Local"),
        selector: selectorOf(name),
        ports: [{ name, port, targetPort: name, protocol: "TCP" }],
      },
    },
    disruptionBudget(v, name),
  ];
  return {
    file: "sftp.yaml",
    about: "SFTP for files of worlds, where it is switched on.",
    objects: objects.map((object) => when(enabled, object)),
  };
}

function deployment(v: V): Template {
  return {
    ...head({
      apiVersion: "apps/v1",
      kind: "Deployment",
      name,
      namespace: v.namespaces.control,
      labels: labelsOf(name),
    }),
    spec: {
      replicas: v.sftp.replicas,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      selector: { matchLabels: selectorOf(name) },
      template: {
        metadata: { labels: labelsOf(name), annotations: scrapeAnnotations(v) },
        spec: podSpec(v),
      },
    },
  };
}

const secretFile = (secretName: Template, { key, at }: { key: string; at: string }): Mount => ({
  name: at,
  at: `/${at}`,
  from: { secret: { secretName, defaultMode: 0o440, items: [{ key, path: at }] } },
  readOnly: true,
});

function podSpec(v: V): Template {
  const mounts = [
    secretFile(v.secrets.tokens, { key: "sftp", at: "token" }),
    secretFile(v.secrets.sftp, { key: "host_key", at: "host-key" }),
    // What is being transferred: as much as SVC_SFTP_SPOOL_BYTES, and some room.
    scratch("spool", "/spool", "9Gi"),
  ];
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 30,
    priorityClassName: "svc-control-plane",
    imagePullSecrets: v.images.pullSecrets,
    ...placement(v, name),
    securityContext: asUser(user),
    containers: [
      {
        name,
        image: v.images.services,
        imagePullPolicy: v.images.pullPolicy,
        args: ["services/sftp/src/main.ts"],
        env: environment(v),
        envFrom: when(v.sftp.secretEnv, [{ secretRef: { name: v.sftp.secretEnv } }]),
        ports: [{ name, containerPort: sftpPort, protocol: "TCP" }, ...healthPorts],
        ...probes,
        resources: resourcesOf(v.sftp.resources),
        securityContext: confined,
        volumeMounts: volumeMountsOf(mounts),
      },
    ],
    volumes: volumesOf(mounts),
  };
}

function environment(v: V): Template[] {
  const { host, port } = v.sftp;
  return [
    { name: "SVC_API_BASE_URL", value: internalUrl(v) },
    { name: "SVC_EXTERNAL_URL", value: externalUrl(v) },
    { name: "SVC_SERVICE_TOKEN_FILE", value: "/token/token" },
    { name: "SVC_SFTP_HOST", value: "0.0.0.0" },
    { name: "SVC_SFTP_PORT", value: String(sftpPort) },
    { name: "SVC_SFTP_PUBLIC_HOST", value: choose(host, host, text`sftp.${v.rootDomain}`) },
    { name: "SVC_SFTP_PUBLIC_PORT", value: text`${port}` },
    { name: "SVC_SFTP_HOST_KEY_FILE", value: "/host-key/host-key" },
    { name: "SVC_SFTP_DIR", value: "/spool" },
    ...healthVariables,
  ];
}
