// The registry of images and the gate in front of it, in one pod: the registry itself listens on the pod's loopback only.

import { equals, not, type Template, when } from "../template/expression.ts";
import {
  asUser,
  claim,
  claimSpec,
  confined,
  head,
  healthPorts,
  healthVariables,
  labelsOf,
  type Mount,
  type ObjectFile,
  probes,
  resourcesOf,
  scratch,
  secretVariable,
  selectorOf,
  user,
  type V,
  volumeMountsOf,
  volumesOf,
} from "./common.ts";
import { scrapeAnnotations } from "./service.ts";

const name = "registry";
const port = 5000;

const config = `version: 0.1
log: { level: warn, accesslog: { disabled: true } }
# No cache of blobs: it would name blobs that a garbage collection has deleted.
storage:
  filesystem: { rootdirectory: /images }
  delete: { enabled: true }
http: { addr: "127.0.0.1:5001" }
`;

export function registryFile(v: V): ObjectFile {
  const { control } = v.namespaces;
  const { storage } = v.registry;
  const objects: Template[] = [
    {
      ...head({ apiVersion: "v1", kind: "ConfigMap", name, namespace: control }),
      data: { "config.yml": config },
    },
    {
      ...head({ apiVersion: "v1", kind: "PersistentVolumeClaim", name: "svc-registry", namespace: control }),
      spec: claimSpec(storage),
    },
    {
      ...head({ apiVersion: "v1", kind: "Service", name, namespace: control, labels: labelsOf(name) }),
      spec: { selector: selectorOf(name), ports: [{ name, port, targetPort: "gate", protocol: "TCP" }] },
    },
    statefulSet(v),
  ];
  return {
    file: "registry.yaml",
    about:
      "The registry of images and its gate. Nodes pull over the host's port, which must be closed to the outside.",
    objects: objects.map((object) => when(v.registry.enabled, object)),
  };
}

function statefulSet(v: V): Template {
  return {
    ...head({
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      name,
      namespace: v.namespaces.control,
      labels: labelsOf(name),
    }),
    spec: {
      serviceName: name,
      // The lease of garbage collection is one process's: a second gate would not know of it.
      replicas: 1,
      selector: { matchLabels: selectorOf(name) },
      template: {
        metadata: { labels: labelsOf(name), annotations: scrapeAnnotations(v) },
        spec: podSpec(v),
      },
    },
  };
}

const images = claim("images", "/images", "svc-registry");
const configMount: Mount = { name: "config", at: "/config", from: { configMap: { name } }, readOnly: true };
const program = scratch("program", "/program", "64Mi");

function podSpec(v: V): Template {
  const credentials: Mount = {
    name: "credentials",
    at: "/credentials",
    from: {
      secret: {
        secretName: v.secrets.registry,
        defaultMode: 0o440,
        items: [{ key: "credentials", path: "credentials" }],
      },
    },
    readOnly: true,
  };
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 60,
    priorityClassName: "svc-control-plane",
    imagePullSecrets: v.images.pullSecrets,
    nodeSelector: v.scheduling.nodeSelector,
    tolerations: v.scheduling.tolerations,
    securityContext: asUser(user),
    initContainers: [
      {
        // Garbage is collected by the registry's own program, run by the gate.
        name: "program",
        image: v.images.registry,
        imagePullPolicy: v.images.pullPolicy,
        command: ["cp", "/bin/registry", "/program/registry"],
        resources: { requests: { cpu: "10m", memory: "16Mi" }, limits: { memory: "64Mi" } },
        securityContext: confined,
        volumeMounts: volumeMountsOf([program]),
      },
    ],
    containers: [registryContainer(v), gateContainer(v, [configMount, credentials, program, images])],
    volumes: volumesOf([configMount, credentials, program, images]),
  };
}

function registryContainer(v: V): Template {
  return {
    name,
    image: v.images.registry,
    imagePullPolicy: v.images.pullPolicy,
    command: ["/bin/registry", "serve", "/config/config.yml"],
    env: [secretVariable("REGISTRY_HTTP_SECRET", v.secrets.registry, "http_secret")],
    resources: { requests: { cpu: "50m", memory: "64Mi" }, limits: { memory: "512Mi" } },
    securityContext: confined,
    volumeMounts: volumeMountsOf([configMount, images]),
  };
}

function gateContainer(v: V, mounts: readonly Mount[]): Template {
  const { hostPort, resources } = v.registry;
  return {
    name: "gate",
    image: v.images.services,
    imagePullPolicy: v.images.pullPolicy,
    args: ["services/registry-gate/src/main.ts"],
    env: [
      ...healthVariables,
      { name: "SVC_REGISTRY_GATE_HOST", value: "0.0.0.0" },
      { name: "SVC_REGISTRY_GATE_CREDENTIALS_FILE", value: "/credentials/credentials" },
      { name: "SVC_REGISTRY_GATE_STATE_DIR", value: "/images/gate" },
      { name: "SVC_REGISTRY_GATE_COLLECT_HOURS", value: "24" },
      { name: "SVC_REGISTRY_GATE_PROGRAM", value: "/program/registry" },
      { name: "SVC_REGISTRY_GATE_PROGRAM_CONFIG", value: "/config/config.yml" },
    ],
    ports: [
      {
        name: "gate",
        containerPort: port,
        hostPort: when(not(equals(hostPort, 0)), hostPort),
        protocol: "TCP",
      },
      ...healthPorts,
    ],
    ...probes,
    resources: resourcesOf(resources),
    securityContext: confined,
    volumeMounts: volumeMountsOf(mounts),
  };
}
