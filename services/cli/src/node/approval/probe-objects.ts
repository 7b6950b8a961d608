// Pods and policies of a probe. They live in a namespace of their own, so that no pod of svc is reached or adopted. Pure.

import type { KubeObject, Pod } from "@svc/kube";

const probePort = 25_590;

/** One namespace for each node, so that a repeat removes what an interrupted run left. */
export function probeNamespace(node: string): string {
  return `svc-probe-${node.replaceAll(".", "-")}`.slice(0, 63).replace(/-$/, "0");
}

type Role = "target" | "client" | "stranger" | "fenced";

export const clients = [
  { role: "client", isAllowed: true, why: "a policy allows it in both directions" },
  { role: "stranger", isAllowed: false, why: "no policy lets it in" },
  { role: "fenced", isAllowed: false, why: "no policy lets it out" },
] as const;

const only = (...roles: Role[]) => ({
  podSelector: { matchExpressions: [{ key: "probe", operator: "In", values: roles }] },
});
const ports = [{ protocol: "TCP", port: probePort }];

/** Everything is denied, but for what `clients` says. */
export function probePolicies(namespace: string): KubeObject[] {
  const policy = (name: string, spec: object) =>
    ({ metadata: { name, namespace }, spec }) as unknown as KubeObject;
  return [
    policy("default-deny", { podSelector: {}, policyTypes: ["Ingress", "Egress"] }),
    policy("in", {
      ...only("target"),
      policyTypes: ["Ingress"],
      ingress: [{ from: [only("client", "fenced")], ports }],
    }),
    policy("out", {
      ...only("client", "stranger"),
      policyTypes: ["Egress"],
      egress: [{ to: [only("target")], ports }],
    }),
  ];
}

// Answers each connection with the address that it comes from.
const targetProgram = `
const server = require("node:net").createServer((socket) => {
  socket.on("error", () => {});
  socket.end(socket.remoteAddress);
});
server.listen(${probePort}, process.env.POD_IP);
process.on("SIGTERM", () => process.exit(0));`;

// A policy may come into force late, so three refusals in a row count, and so does one success of who is allowed.
const clientProgram = `
const { connect } = require("node:net");
const attempt = () => new Promise((done) => {
  const socket = connect({ host: process.env.TARGET, port: ${probePort}, localAddress: process.env.POD_IP });
  let seen = "";
  socket.setTimeout(2000, () => socket.destroy());
  socket.on("data", (data) => { seen += data; });
  socket.on("error", () => {});
  socket.on("close", () => done(seen));
});
(async () => {
  let seen = "", refused = 0;
  for (let tries = 0; tries < 20; tries++) {
    seen = await attempt();
    refused = seen === "" ? refused + 1 : 0;
    if (process.env.ALLOWED === "yes" ? seen !== "" : refused === 3) break;
    await new Promise((wake) => setTimeout(wake, 1000));
  }
  console.log(JSON.stringify({ seen }));
})();`;

type ProbePod = { namespace: string; node: string; name: string; image: string };

export function targetPod(about: ProbePod): Pod {
  return probePod(about, { role: "target", program: targetProgram, env: [] });
}

export function clientPod(
  about: ProbePod,
  { role, isAllowed, target }: { role: Role; isAllowed: boolean; target: string },
): Pod {
  const env = [
    { name: "TARGET", value: target },
    { name: "ALLOWED", value: isAllowed ? "yes" : "no" },
  ];
  return probePod(about, { role, program: clientProgram, env });
}

function probePod(
  { namespace, node, name, image }: ProbePod,
  { role, program, env }: { role: Role; program: string; env: { name: string; value: string }[] },
): Pod {
  const podIP = { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } };
  return {
    metadata: { name, namespace, labels: { probe: role } },
    spec: {
      // Not through the scheduler: the node is tainted.
      nodeName: node,
      tolerations: [{ operator: "Exists" }],
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 2,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: "probe",
          image,
          imagePullPolicy: "Always",
          command: ["node", "-e", program],
          env: [podIP, ...env],
          resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "128Mi" } },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
        },
      ],
    },
  } as unknown as Pod;
}
