// What players meet: the proxy, and the login gate and the lobby as system servers, which lifecycle starts.

import { choose, type Template, text, when } from "../template/expression.ts";
import { internalUrl } from "./addresses.ts";
import {
  asUser,
  confined,
  gamePort,
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
  user,
  type V,
  volumeMountsOf,
  volumesOf,
} from "./common.ts";
import { disruptionBudget, scrapeAnnotations } from "./service.ts";
import { forwardingMount } from "./services.ts";

const name = "proxy";

export function proxyFile(v: V): ObjectFile {
  const { serviceType, serviceAnnotations, port } = v.proxy;
  return {
    file: "proxy.yaml",
    about:
      "The proxy: the only part that players reach. Replicas hand players over to each other when one stops.",
    objects: [
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
          externalTrafficPolicy: "Local",
          selector: selectorOf(name),
          ports: [{ name: "game", port, targetPort: "game", protocol: "TCP" }],
        },
      },
      disruptionBudget(v, name),
    ],
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
      replicas: v.proxy.replicas,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      selector: { matchLabels: selectorOf(name) },
      template: {
        metadata: { labels: labelsOf(name), annotations: scrapeAnnotations(v) },
        spec: podSpec(v),
      },
    },
  };
}

function podSpec(v: V): Template {
  // The proxy reads rotated tokens and masters again by itself.
  const token: Mount = {
    name: "token",
    at: "/token",
    from: {
      secret: {
        secretName: v.secrets.tokens,
        defaultMode: 0o440,
        items: [{ key: "velocity", path: "token" }],
      },
    },
    readOnly: true,
  };
  const mounts = [token, forwardingMount(v), scratch("state", "/state", "16Mi")];
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    // Time to hand its players over: it waits for them twice before it stops.
    terminationGracePeriodSeconds: 60,
    priorityClassName: "svc-control-plane",
    imagePullSecrets: v.images.pullSecrets,
    ...placement(v, name),
    securityContext: asUser(user),
    containers: [
      {
        name,
        image: v.images.services,
        imagePullPolicy: v.images.pullPolicy,
        args: ["services/proxy/src/main.ts"],
        env: environment(v),
        envFrom: when(v.proxy.secretEnv, [{ secretRef: { name: v.proxy.secretEnv } }]),
        ports: [{ name: "game", containerPort: gamePort, protocol: "TCP" }, ...healthPorts],
        ...probes,
        resources: resourcesOf(v.proxy.resources),
        securityContext: confined,
        volumeMounts: volumeMountsOf(mounts),
      },
    ],
    volumes: volumesOf(mounts),
  };
}

function environment(v: V): Template[] {
  const { transferTo, port } = v.proxy;
  return [
    { name: "SVC_API_BASE_URL", value: internalUrl(v) },
    { name: "SVC_SERVICE_TOKEN_FILE", value: "/token/token" },
    { name: "SVC_ROOT_DOMAIN", value: v.rootDomain },
    { name: "SVC_PROXY_HOST", value: "0.0.0.0" },
    { name: "SVC_PROXY_DIR", value: "/state" },
    // Its public address: players that are handed over reach the remaining proxy.
    { name: "SVC_PROXY_TRANSFER_TO", value: choose(transferTo, transferTo, text`${v.rootDomain}:${port}`) },
    { name: "SVC_FORWARDING_MASTER_FILE", value: "/forwarding/masters" },
    ...healthVariables,
  ];
}

/** System servers never stop for idleness, and nobody owns them. lifecycle makes their forwarding secrets. */
export function systemServerFile(v: V): ObjectFile {
  return {
    file: "servers.yaml",
    about: "The login gate and the lobby. The Secret limbo-token holds the gate's token.",
    objects: [
      systemServer(v, "login", {
        program: "login-gate",
        // lifecycle adds the token and the file of the forwarding secret.
        env: [
          { name: "SVC_API_BASE_URL", value: internalUrl(v) },
          { name: "SVC_ROOT_DOMAIN", value: v.rootDomain },
          { name: "POD_IP", value: "0.0.0.0" },
          { name: "SVC_HEALTH_PORT", value: "8080" },
        ],
        extra: { startup: { healthHTTPPort: 8080, healthHTTPPath: "/healthz" } },
        resources: resourcesOf(v.loginGate.resources),
      }),
      systemServer(v, "lobby", {
        program: "lobby",
        env: [{ name: "POD_IP", value: "0.0.0.0" }],
        resources: resourcesOf(v.lobby.resources),
      }),
    ],
  };
}

type System = { program: string; env: Template; resources: Template; extra?: Record<string, Template> };

function systemServer(v: V, role: string, { program, env, resources, extra }: System): Template {
  return {
    ...head({
      apiVersion: "svc.internal/v1alpha1",
      kind: "MinecraftServer",
      name: role,
      namespace: v.namespaces.game,
      labels: { "svc.internal/system-role": role },
    }),
    spec: {
      subdomain: role,
      image: v.images.services,
      args: [`services/${program}/src/main.ts`],
      desiredState: "Running",
      reaperExempt: true,
      env,
      ...extra,
      storage: { size: "64Mi" },
      resources,
    },
  };
}
