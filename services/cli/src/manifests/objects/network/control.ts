// The namespace of the control plane: nothing is reachable but what is named here, in both directions.

import { owners } from "@svc/proto";
import { type Template, when } from "../../template/expression.ts";
import { gamePort, healthPort, type ObjectFile, selectorOf, sftpPort, type V } from "../common.ts";
import { dns, networkPolicy, podsIn, tcp } from "./rule.ts";

const gateways = ["gateway-external", "gateway-internal"];
const services = [...gateways, ...owners];

const pod = (name: string): Template => ({ podSelector: { matchLabels: selectorOf(name) } });
const podsOf = (names: readonly string[]): Template => ({
  podSelector: { matchExpressions: [{ key: "app.kubernetes.io/name", operator: "In", values: names }] },
});
const selected = (names: readonly string[]): Template => ({
  matchExpressions: [{ key: "app.kubernetes.io/name", operator: "In", values: names }],
});
const cidr = (block: Template): Template => ({ ipBlock: { cidr: block } });
const anywhere = cidr("0.0.0.0/0");

/** Who gives or takes bytes beside messages; their ports are chosen when they start. */
const byteOwners = ["storage", "builds"];
const byteCallers = [...gateways, "ops-watchdog", "storage", "builds"];
const apiUsers = ["lifecycle", "storage", "builds", "ops-watchdog", "migrate"];

export function controlPolicies(v: V): ObjectFile {
  const policy = (name: string, pods: Template, rules: { ingress?: Template[]; egress?: Template[] }) =>
    networkPolicy({ name, namespace: v.namespaces.control, pods, ...rules });
  const objects = [
    policy("default-deny", {}, { ingress: [], egress: [] }),
    policy("dns", {}, { egress: [dns] }),
    policy(
      "metrics",
      { matchLabels: { "app.kubernetes.io/part-of": "svc" } },
      {
        ingress: [
          {
            from: [podsIn(v.networkPolicies.monitoringNamespace), pod("ops-watchdog")],
            ports: tcp(healthPort),
          },
        ],
      },
    ),
    // While NATS is away, health ports say what lives.
    policy(
      "to-health",
      { matchLabels: selectorOf("ops-watchdog") },
      {
        egress: [
          {
            to: [{ podSelector: { matchLabels: { "app.kubernetes.io/part-of": "svc" } } }],
            ports: tcp(healthPort),
          },
        ],
      },
    ),
    ...dataPolicies(v, policy),
    ...facePolicies(v, policy),
    ...servicePolicies(v, policy),
    policy(
      "registry",
      { matchLabels: selectorOf("registry") },
      {
        ingress: [{ from: [pod("builds"), podsIn(v.namespaces.build)], ports: tcp(5000) }],
      },
    ),
  ];
  return {
    file: "network-control.yaml",
    about: "Network policies of the control plane: everything is denied that is not named here.",
    objects: objects.map((object) => when(v.networkPolicies.enabled, object)),
  };
}

type Make = (name: string, pods: Template, rules: { ingress?: Template[]; egress?: Template[] }) => Template;

/** Every service and the Jobs use NATS; those with tables use PostgreSQL. */
function dataPolicies(v: V, policy: Make): Template[] {
  const [mesh, database] = [
    [...services, "migrate", "reaper"],
    [...owners, "migrate"],
  ];
  return [
    policy("to-nats", selected(mesh), {
      egress: [{ to: [when(v.nats.enabled, pod("nats"), anywhere)], ports: tcp(v.nats.port) }],
    }),
    policy(
      "nats",
      { matchLabels: selectorOf("nats") },
      {
        ingress: [
          { from: [podsOf(mesh)], ports: tcp(4222) },
          { from: [pod("nats")], ports: tcp(6222) },
        ],
        egress: [{ to: [pod("nats")], ports: tcp(6222) }],
      },
    ),
    policy("to-postgres", selected(database), {
      egress: [{ to: [when(v.postgres.enabled, pod("postgres"), anywhere)], ports: tcp(v.postgres.port) }],
    }),
    policy(
      "postgres",
      { matchLabels: selectorOf("postgres") },
      {
        ingress: [{ from: [podsOf(database)], ports: tcp(5432) }],
      },
    ),
  ];
}

/** What is reached from outside the namespace. */
function facePolicies(v: V, policy: Make): Template[] {
  const clients = cidr(v.networkPolicies.clientCidr);
  const { game, build } = v.namespaces;
  return [
    policy(
      "gateway-external",
      { matchLabels: selectorOf("gateway-external") },
      {
        // An ingress controller is a pod of some namespace.
        ingress: [{ from: [clients, { namespaceSelector: {} }], ports: tcp(8080) }],
      },
    ),
    // The pod of `helm test`.
    policy(
      "to-gateway-external",
      { matchLabels: selectorOf("svc-test") },
      {
        egress: [{ to: [pod("gateway-external")], ports: tcp(8080) }],
      },
    ),
    policy(
      "gateway-internal",
      { matchLabels: selectorOf("gateway-internal") },
      {
        ingress: [{ from: [pod("proxy"), pod("sftp"), podsIn(game), podsIn(build)], ports: tcp(8081) }],
      },
    ),
    policy(
      "proxy",
      { matchLabels: selectorOf("proxy") },
      {
        ingress: [{ from: [clients], ports: tcp(gamePort) }],
        egress: [
          { to: [pod("gateway-internal")], ports: tcp(8081) },
          { to: [podsIn(game)], ports: tcp(gamePort) },
        ],
      },
    ),
    when(
      v.sftp.enabled,
      policy(
        "sftp",
        { matchLabels: selectorOf("sftp") },
        {
          ingress: [{ from: [clients], ports: tcp(sftpPort) }],
          egress: [
            { to: [pod("gateway-internal")], ports: tcp(8081) },
            { to: [pod("gateway-external")], ports: tcp(8080) },
          ],
        },
      ),
    ),
  ];
}

/** What the services reach beside NATS and PostgreSQL. */
function servicePolicies(v: V, policy: Make): Template[] {
  const { apiServerCidr, smtpPort } = v.networkPolicies;
  const { game } = v.namespaces;
  return [
    policy("byte-transfers", selected(byteOwners), { ingress: [{ from: [podsOf(byteCallers)] }] }),
    policy("to-byte-transfers", selected(byteCallers), { egress: [{ to: [podsOf(byteOwners)] }] }),
    policy("to-kubernetes-api", selected(apiUsers), {
      egress: [{ to: [cidr(apiServerCidr)], ports: tcp(443, 6443) }],
    }),
    policy(
      "to-rcon",
      { matchLabels: selectorOf("lifecycle") },
      {
        egress: [{ to: [podsIn(game)], ports: tcp(25_575) }],
      },
    ),
    policy(
      "to-drills",
      { matchLabels: selectorOf("storage") },
      {
        egress: [{ to: [podsIn(game)], ports: tcp(gamePort) }],
      },
    ),
    policy(
      "to-registry",
      { matchLabels: selectorOf("builds") },
      {
        egress: [{ to: [when(v.registry.enabled, pod("registry"), anywhere)], ports: tcp(5000, 443) }],
      },
    ),
    when(
      v.tracing.endpoint,
      policy("to-collector", selected(services), {
        egress: [{ to: [{ namespaceSelector: {} }, anywhere], ports: tcp(v.tracing.port) }],
      }),
    ),
    // Hosts that files are fetched from.
    policy(
      "to-sources",
      { matchLabels: selectorOf("storage") },
      {
        egress: [{ to: [anywhere], ports: tcp(443) }],
      },
    ),
    // Session servers, the mail relay, feeds of updates, the store of off-site copies.
    policy("to-internet", selected(["identity", "ops-watchdog"]), {
      egress: [{ to: [anywhere], ports: tcp(443, smtpPort) }],
    }),
  ];
}
