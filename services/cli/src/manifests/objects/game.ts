// What players meet: the proxy, and the login gate and the lobby as system servers, which lifecycle starts.

import { choose, type Template, text } from "../template/expression.ts";
import { internalUrl } from "./addresses.ts";
import { gamePort, head, healthVariables, type ObjectFile, resourcesOf, scratch, type V } from "./common.ts";
import { edgeObjects, secretFile } from "./edge.ts";
import { forwardingMount } from "./services.ts";

export function proxyFile(v: V): ObjectFile {
  return {
    file: "proxy.yaml",
    about:
      "The proxy: the only part that players reach. Replicas hand players over to each other when one stops.",
    objects: edgeObjects(v, {
      name: "proxy",
      values: v.proxy,
      port: { name: "game", number: gamePort },
      externalTrafficPolicy: "Local",
      // Time to hand its players over: it waits for them twice before it stops.
      graceSeconds: 60,
      program: "services/proxy/src/main.ts",
      env: environment(v),
      mounts: [
        secretFile(v.secrets.tokens, { key: "velocity", at: "token" }),
        forwardingMount(v),
        scratch("state", "/state", "16Mi"),
      ],
    }),
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
