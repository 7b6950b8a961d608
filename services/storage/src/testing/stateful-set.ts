import { resources } from "@svc/kube";
import type { Fixture } from "./fixture.ts";
import { namespace } from "./worlds.ts";

/** The StatefulSet that lifecycle keeps for a stopped server. */
export async function addSet(fixture: Pick<Fixture, "kube">, name: string, image: string): Promise<void> {
  const labels = { "svc.internal/server": name };
  const probe = { tcpSocket: { port: 25_565 }, periodSeconds: 1 };
  const container = {
    name: "minecraft",
    image,
    volumeMounts: [{ name: "world", mountPath: "/data" }],
    startupProbe: { ...probe, failureThreshold: 60 },
    readinessProbe: probe,
  };
  await fixture.kube.create(resources.statefulSets, {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name, namespace },
    spec: {
      serviceName: name,
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
      volumeClaimTemplates: [
        {
          metadata: { name: "world" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
      ],
    },
  });
}
