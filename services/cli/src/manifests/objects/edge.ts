// What proxy and SFTP have in common: processes of ours that people reach from outside, by a protocol that is not HTTP.

import { type Template, when } from "../template/expression.ts";
import {
  asUser,
  confined,
  head,
  healthPorts,
  labelsOf,
  type Mount,
  placement,
  probes,
  resourcesOf,
  selectorOf,
  user,
  type V,
  volumeMountsOf,
  volumesOf,
} from "./common.ts";
import { disruptionBudget, scrapeAnnotations } from "./service.ts";

type Edge = {
  name: string;
  /** Its values. */
  values: V["proxy"] | V["sftp"];
  /** `number`: what it listens on in its pod. */
  port: { name: string; number: number };
  /** `Local` where the type of its Service keeps client addresses. */
  externalTrafficPolicy: Template;
  graceSeconds: number;
  program: string;
  env: Template[];
  mounts: Mount[];
};

/** The Deployment, the Service and the PodDisruptionBudget. */
export function edgeObjects(v: V, edge: Edge): Template[] {
  const { name, values, port, externalTrafficPolicy } = edge;
  const { serviceType, serviceAnnotations } = values;
  const { control: namespace } = v.namespaces;
  return [
    {
      ...head({ apiVersion: "apps/v1", kind: "Deployment", name, namespace, labels: labelsOf(name) }),
      spec: {
        replicas: values.replicas,
        strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
        selector: { matchLabels: selectorOf(name) },
        template: {
          metadata: { labels: labelsOf(name), annotations: scrapeAnnotations(v) },
          spec: podSpec(v, edge),
        },
      },
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: {
        ...{ name, namespace, labels: labelsOf(name) },
        annotations: when(serviceAnnotations, serviceAnnotations),
      },
      spec: {
        type: serviceType,
        // Keeps client addresses, which the limits per address need.
        externalTrafficPolicy,
        selector: selectorOf(name),
        ports: [{ name: port.name, port: values.port, targetPort: port.name, protocol: "TCP" }],
      },
    },
    disruptionBudget(v, name),
  ];
}

function podSpec(v: V, { name, values, port, graceSeconds, program, env, mounts }: Edge): Template {
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: graceSeconds,
    priorityClassName: "svc-control-plane",
    imagePullSecrets: v.images.pullSecrets,
    ...placement(v, name),
    securityContext: asUser(user),
    containers: [
      {
        name,
        image: v.images.services,
        imagePullPolicy: v.images.pullPolicy,
        args: [program],
        env,
        envFrom: when(values.secretEnv, [{ secretRef: { name: values.secretEnv } }]),
        ports: [{ name: port.name, containerPort: port.number, protocol: "TCP" }, ...healthPorts],
        ...probes,
        resources: resourcesOf(values.resources),
        securityContext: confined,
        volumeMounts: volumeMountsOf(mounts),
      },
    ],
    volumes: volumesOf(mounts),
  };
}

/** One key of a Secret as the file `/<at>/<at>`, which its reader reads again when it was rotated. */
export const secretFile = (secretName: Template, { key, at }: { key: string; at: string }): Mount => ({
  name: at,
  at: `/${at}`,
  from: { secret: { secretName, defaultMode: 0o440, items: [{ key, path: at }] } },
  readOnly: true,
});
