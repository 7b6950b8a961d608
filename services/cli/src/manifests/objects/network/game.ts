// Game servers and image builds run what is not ours (docs/reference/server-resource.md#objects). Servers are the pods that
// lifecycle labels.

import { type Template, when } from "../../template/expression.ts";
import { gamePort, type ObjectFile, type V } from "../common.ts";
import { controlPod, dns, networkPolicy, tcp } from "./rule.ts";

const servers = {
  matchLabels: { "svc.internal/managed-by": "svc-operator", "svc.internal/component": "server" },
};

// No private network: not the cluster, its nodes, neighbouring machines or a cloud's metadata service.
const internet = {
  to: [
    {
      ipBlock: {
        cidr: "0.0.0.0/0",
        except: [
          "0.0.0.0/8",
          "10.0.0.0/8",
          "100.64.0.0/10",
          "127.0.0.0/8",
          "169.254.0.0/16",
          "172.16.0.0/12",
          "192.0.0.0/24",
          "192.168.0.0/16",
          "198.18.0.0/15",
          "224.0.0.0/4",
          "240.0.0.0/4",
        ],
      },
    },
    { ipBlock: { cidr: "2000::/3", except: ["2001::/32", "2002::/16"] } },
  ],
};

export function gamePolicies(v: V): ObjectFile {
  const policy = (name: string, pods: Template, rules: { ingress?: Template[]; egress?: Template[] }) =>
    networkPolicy({ name, namespace: v.namespaces.game, pods, ...rules });
  const internalFace = { to: [controlPod(v, "gateway-internal")], ports: tcp(8081) };
  const from = (name: string, port: number) => [{ from: [controlPod(v, name)], ports: tcp(port) }];
  const objects = [
    policy("default-deny", {}, { ingress: [], egress: [] }),
    policy("server-egress", servers, { egress: [dns, internet] }),
    // A pod that got past this policy would still need this server's forwarding secret. (A Velocity in place of our proxy
    // gets the proxy's label.)
    policy("allow-game", servers, { ingress: from("proxy", gamePort) }),
    // storage asks the copy that a drill boots for its status.
    policy(
      "allow-drill",
      { matchExpressions: [{ key: "svc.internal/drill", operator: "Exists" }] },
      { ingress: from("storage", gamePort) },
    ),
    policy("allow-rcon", servers, { ingress: from("lifecycle", 25_575) }),
    // The login gate is the only server that may call the internal face.
    policy(
      "login-internal-face",
      { matchLabels: { "svc.internal/managed-by": "svc-operator", "svc.internal/system-role": "login" } },
      { egress: [internalFace] },
    ),
    // World Jobs read and write worlds. The internal face accepts their one-time tokens.
    policy(
      "world-jobs",
      { matchLabels: { "svc.internal/component": "world-job" } },
      { ingress: [], egress: [dns, internalFace] },
    ),
  ];
  return {
    file: "network-game.yaml",
    about: "Network policies of game servers and of Jobs on their worlds.",
    objects: objects.map((object) => when(v.networkPolicies.enabled, object)),
  };
}

/** Builds run what a user wrote. The step `egress-gate` waits until this policy is in force. */
export function buildNamespace(v: V): ObjectFile {
  const namespace = v.namespaces.build;
  const small = { cpu: "1", memory: "1Gi", "ephemeral-storage": "1Gi" };
  return {
    file: "build-namespace.yaml",
    about:
      "Bounds of the namespace of builds, and what its pods reach: DNS, the registry, the internal face, and the internet over TLS where files of a pack are downloaded.",
    objects: [
      {
        apiVersion: "v1",
        kind: "LimitRange",
        metadata: { name: "builds", namespace },
        spec: { limits: [{ type: "Container", default: small, defaultRequest: small }] },
      },
      {
        apiVersion: "v1",
        kind: "ResourceQuota",
        metadata: { name: "builds", namespace },
        spec: { hard: { pods: "8", persistentvolumeclaims: "0", services: "0" } },
      },
      when(
        v.networkPolicies.enabled,
        networkPolicy({
          name: "builds",
          namespace,
          pods: {},
          ingress: [],
          egress: [
            dns,
            { to: [controlPod(v, "registry")], ports: tcp(5000) },
            { to: [controlPod(v, "gateway-internal")], ports: tcp(8081) },
          ],
        }),
      ),
      // What these pods build is the operator's template; no Dockerfile of a user runs in them.
      when(
        v.networkPolicies.enabled,
        networkPolicy({
          name: "build-downloads",
          namespace,
          pods: { matchLabels: { "svc.internal/build-downloads": "pack" } },
          egress: [{ ...internet, ports: tcp(443) }],
        }),
      ),
    ],
  };
}
