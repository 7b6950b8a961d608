// Services and the RCON Secret of a server (docs/reference/server-resource.md#objects).

import type { OwnerReference, Secret, Service } from "@svc/kube";
import {
  gamePort,
  hasRcon,
  label,
  managedLabels,
  namespaceOf,
  rconPort,
  rconSecretRef,
  type Server,
} from "../cluster/resource.ts";

export function ownerOf(server: Server): OwnerReference {
  const { apiVersion, kind, metadata } = server;
  return {
    apiVersion,
    kind,
    name: metadata.name,
    uid: metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
}

function metadataOf(server: Server, name: string) {
  return {
    name,
    namespace: namespaceOf(server),
    labels: managedLabels(server.metadata.name),
    ownerReferences: [ownerOf(server)],
  };
}

function portsOf(server: Server) {
  const ports = [{ name: "game", port: gamePort, targetPort: gamePort, protocol: "TCP" }];
  if (hasRcon(server)) ports.push({ name: "rcon", port: rconPort, targetPort: rconPort, protocol: "TCP" });
  return ports;
}

/** Players and probes connect here. While the node is unavailable its selector matches no pod. */
export function serviceOf(server: Server, isNodeOnline: boolean): Service {
  const { name } = server.metadata;
  const selector = { [label.server]: name, ...(!isNodeOnline && { [label.nodeOnline]: "true" }) };
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataOf(server, name),
    spec: { type: "ClusterIP", selector, ports: portsOf(server) },
  };
}

/** Gives the pod its own name in DNS; a StatefulSet needs it. */
export function headlessServiceOf(server: Server): Service {
  const { name } = server.metadata;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataOf(server, `${name}-hl`),
    spec: { clusterIP: "None", selector: { [label.server]: name }, ports: portsOf(server) },
  };
}

export function rconSecretOf(server: Server, password: string): Secret {
  const { name, key } = rconSecretRef(server);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: metadataOf(server, name),
    type: "Opaque",
    data: { [key]: Buffer.from(password).toString("base64") },
  };
}

/** Whether an existing Service differs from the wanted one in what we set. */
export function isServiceStale(existing: Service, wanted: Service): boolean {
  return shapeOf(existing) !== shapeOf(wanted);
}

function shapeOf({ spec }: Service): string {
  const selector = Object.entries(spec?.selector ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([
    selector,
    spec?.ports?.map(({ name, port, targetPort }) => [name, port, targetPort]),
  ]);
}
