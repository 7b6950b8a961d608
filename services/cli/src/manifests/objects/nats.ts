// NATS: one server, or three that store every stream three times.

import { natsAuthorization, natsUsers } from "@svc/proto";
import { digest, equals, type Template, text, when } from "../template/expression.ts";
import {
  asUser,
  claimSpec,
  confined,
  head,
  labelsOf,
  type Mount,
  type ObjectFile,
  placement,
  resourcesOf,
  scratch,
  secretVariable,
  selectorOf,
  user,
  type V,
  volumeMountsOf,
  volumesOf,
} from "./common.ts";
import { disruptionBudget } from "./service.ts";

const name = "nats";
const clientPort = 4222;
const routePort = 6222;
const monitorPort = 8222;
/** Beside the users of the services: the one that servers use among themselves. */
export const routeUser = "cluster";

const variableOf = (userName: string) => `NATS_PASSWORD_${userName.replaceAll("-", "_").toUpperCase()}`;

export function natsFile(v: V): ObjectFile {
  const objects = [config(v), clientService(v), peerService(v), statefulSet(v), disruptionBudget(v, name)];
  return {
    file: "nats.yaml",
    about: "NATS with one user for each service; its permissions follow from the contracts.",
    objects: objects.map((object) => when(v.nats.enabled, object)),
  };
}

/** The users of NATS; a password is a variable of the environment of the server. */
export const usersText = natsAuthorization(
  Object.fromEntries(natsUsers.map((one) => [one, { variable: variableOf(one) }])),
);

const quotedRoute = (at: number) => `NATS_ROUTE_${at}`;
const servers = [0, 1, 2];

// A value is quoted before it becomes part of the configuration, where one that begins with a digit would be a number.
function config(v: V): Template {
  return {
    ...head({ apiVersion: "v1", kind: "ConfigMap", name, namespace: v.namespaces.control }),
    data: {
      "nats.conf": `server_name: $POD_NAME
port: ${clientPort}
http_port: ${monitorPort}
pid_file: "/run/nats/nats.pid"
# A server that stops sends its clients to the others first.
lame_duck_grace_period: "5s"
lame_duck_duration: "30s"
jetstream { store_dir: "/data" }
include "cluster.conf"
include "users.conf"
`,
      "cluster.conf": when(equals(v.nats.replicas, 3), clusterText, "# one server\n"),
      "users.conf": usersText,
    },
  };
}

const clusterText = `cluster {
  name: "svc"
  port: ${routePort}
  authorization { user: "${routeUser}", password: $${variableOf(routeUser)} }
  routes: [${servers.map((at) => `$${quotedRoute(at)}`).join(", ")}]
}
`;

function variables(v: V): Template[] {
  const raw = (one: string) => `RAW_${variableOf(one)}`;
  const routeTo = (at: number) =>
    text`"nats://${routeUser}:$(${raw(routeUser)})@${name}-${String(at)}.nats-peers.${v.namespaces.control}.svc.cluster.local:${String(routePort)}"`;
  const all = [...natsUsers, routeUser];
  return [
    { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
    ...all.map((one) => secretVariable(raw(one), v.secrets.nats, one)),
    ...all.map((one) => ({ name: variableOf(one), value: `"$(${raw(one)})"` })),
    ...servers.map((at) => ({ name: quotedRoute(at), value: routeTo(at) })),
  ];
}

function clientService(v: V): Template {
  return {
    ...head({
      apiVersion: "v1",
      kind: "Service",
      name,
      namespace: v.namespaces.control,
      labels: labelsOf(name),
    }),
    spec: {
      selector: selectorOf(name),
      ports: [{ name: "client", port: v.nats.port, targetPort: "client", protocol: "TCP" }],
    },
  };
}

function peerService(v: V): Template {
  return {
    ...head({
      apiVersion: "v1",
      kind: "Service",
      name: "nats-peers",
      namespace: v.namespaces.control,
      labels: labelsOf(name),
    }),
    spec: {
      clusterIP: "None",
      // Servers find each other before they are ready.
      publishNotReadyAddresses: true,
      selector: selectorOf(name),
      ports: [
        { name: "client", port: clientPort, targetPort: "client", protocol: "TCP" },
        { name: "routes", port: routePort, targetPort: "routes", protocol: "TCP" },
      ],
    },
  };
}

function statefulSet(v: V): Template {
  const { storage, replicas } = v.nats;
  return {
    ...head({
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      name,
      namespace: v.namespaces.control,
      labels: labelsOf(name),
    }),
    spec: {
      serviceName: "nats-peers",
      replicas,
      podManagementPolicy: "Parallel",
      selector: { matchLabels: selectorOf(name) },
      template: {
        metadata: {
          labels: labelsOf(name),
          // A server reads its users at start only, and a release may change what they may do.
          annotations: { "svc.internal/release": digest(v.images.services) },
        },
        spec: podSpec(v),
      },
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: claimSpec(storage),
        },
      ],
    },
  };
}

const probe = (path: string) => ({ httpGet: { port: "monitor", path } });

function podSpec(v: V): Template {
  const mounts: Mount[] = [
    { name: "config", at: "/config", from: { configMap: { name } }, readOnly: true },
    scratch("run", "/run/nats", "1Mi"),
  ];
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 60,
    priorityClassName: "svc-data",
    imagePullSecrets: v.images.pullSecrets,
    ...placement(v, name),
    securityContext: asUser(user),
    containers: [
      {
        name,
        image: v.images.nats,
        imagePullPolicy: v.images.pullPolicy,
        command: ["nats-server", "--config", "/config/nats.conf"],
        env: variables(v),
        ports: [
          { name: "client", containerPort: clientPort, protocol: "TCP" },
          { name: "routes", containerPort: routePort, protocol: "TCP" },
          { name: "monitor", containerPort: monitorPort, protocol: "TCP" },
        ],
        startupProbe: { ...probe("/healthz?js-server-only=true"), periodSeconds: 2, failureThreshold: 90 },
        readinessProbe: { ...probe("/healthz?js-server-only=true"), periodSeconds: 5 },
        livenessProbe: { ...probe("/healthz?js-enabled-only=true"), periodSeconds: 20, timeoutSeconds: 5 },
        lifecycle: {
          preStop: { exec: { command: ["nats-server", "--signal", "ldm=/run/nats/nats.pid"] } },
        },
        resources: resourcesOf(v.nats.resources),
        securityContext: confined,
        volumeMounts: [{ name: "data", mountPath: "/data" }, ...volumeMountsOf(mounts)],
      },
    ],
    volumes: volumesOf(mounts),
  };
}
