import type { IncomingMessage } from "node:http";
import type { KubeObject } from "../../cluster-api.ts";
import { isObject, listAt, objectAt, stringAt, valueAt } from "../json.ts";
import type { PrinterColumn, ResourceType } from "../resource-type.ts";
import type { Stored } from "../store/stored.ts";

/** True when the client would rather have a table, as `kubectl get` asks for. */
export function wantsTable(request: IncomingMessage): boolean {
  const first = (request.headers.accept ?? "").split(",")[0] ?? "";
  return /as=Table/.test(first) && /g=meta\.k8s\.io/.test(first);
}

type Column = { name: string; type: string; priority: number; cell: (object: KubeObject) => unknown };

const nameColumn: Column = {
  name: "Name",
  type: "string",
  priority: 0,
  cell: (object) => object.metadata.name,
};
const ageColumn: Column = {
  name: "Age",
  type: "string",
  priority: 0,
  cell: (object) => age(object.metadata.creationTimestamp),
};

function text(name: string, cell: (object: KubeObject) => unknown): Column {
  return { name, type: "string", priority: 0, cell };
}

function field(name: string, ...path: string[]): Column {
  return text(name, (object) => valueAt(object, path) ?? "");
}

function podCells(): Column[] {
  const statuses = (pod: KubeObject) => listAt(pod.status, "containerStatuses").filter(isObject);
  return [
    text("Ready", (pod) => {
      const ready = statuses(pod).filter((status) => status["ready"] === true).length;
      return `${ready}/${listAt(pod.spec, "containers").length}`;
    }),
    text("Status", (pod) => {
      if (pod.metadata.deletionTimestamp) return "Terminating";
      const waiting = statuses(pod).map((status) =>
        stringAt(objectAt(objectAt(status, "state"), "waiting"), "reason"),
      );
      return waiting.find((reason) => reason !== "") ?? (stringAt(pod.status, "phase") || "Unknown");
    }),
    text("Restarts", (pod) =>
      statuses(pod).reduce((sum, status) => sum + Number(status["restartCount"] ?? 0), 0),
    ),
  ];
}

function readyOf(object: KubeObject): string {
  return `${Number(objectAt(object, "status")["readyReplicas"] ?? 0)}/${Number(objectAt(object, "spec")["replicas"] ?? 0)}`;
}

const columnsByKind: Record<string, Column[]> = {
  "/pods": podCells(),
  "/namespaces": [field("Status", "status", "phase")],
  "/services": [
    field("Type", "spec", "type"),
    field("Cluster-IP", "spec", "clusterIP"),
    text("Port(s)", (service) =>
      listAt(service.spec, "ports")
        .filter(isObject)
        .map((port) => `${String(port["port"])}/${String(port["protocol"] ?? "TCP")}`)
        .join(","),
    ),
  ],
  "/secrets": [
    text("Type", (secret) => secret["type"]),
    text("Data", (secret) => Object.keys(objectAt(secret, "data")).length),
  ],
  "/configmaps": [text("Data", (map) => Object.keys(objectAt(map, "data")).length)],
  "/persistentvolumeclaims": [
    field("Status", "status", "phase"),
    field("Volume", "spec", "volumeName"),
    field("Capacity", "status", "capacity", "storage"),
    field("StorageClass", "spec", "storageClassName"),
  ],
  "/persistentvolumes": [
    field("Capacity", "spec", "capacity", "storage"),
    field("Status", "status", "phase"),
  ],
  "/nodes": [
    text("Status", (node) => {
      const conditions = listAt(node.status, "conditions").filter(isObject);
      return conditions.some((one) => one["type"] === "Ready" && one["status"] === "True")
        ? "Ready"
        : "NotReady";
    }),
  ],
  "/events": [
    field("Type", "type"),
    field("Reason", "reason"),
    text("Object", eventSubject),
    field("Message", "message"),
  ],
  "apps/statefulsets": [text("Ready", readyOf)],
  "apps/deployments": [text("Ready", readyOf), field("Available", "status", "availableReplicas")],
  "apps/replicasets": [field("Desired", "spec", "replicas"), field("Ready", "status", "readyReplicas")],
  "batch/jobs": [
    text(
      "Completions",
      (job) =>
        `${Number(objectAt(job, "status")["succeeded"] ?? 0)}/${Number(objectAt(job, "spec")["completions"] ?? 1)}`,
    ),
  ],
  "coordination.k8s.io/leases": [field("Holder", "spec", "holderIdentity")],
};

function eventSubject(event: KubeObject): string {
  const about = objectAt(event, "involvedObject");
  return `${stringAt(about, "kind").toLowerCase()}/${stringAt(about, "name")}`;
}

function age(time: unknown): string {
  const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(String(time))) / 1000));
  if (Number.isNaN(seconds)) return "<unknown>";
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

function printed({ name, type, jsonPath, priority = 0 }: PrinterColumn): Column {
  const path = jsonPath
    .replace(/\[['"]?([^\]'"]+)['"]?\]/g, ".$1")
    .split(".")
    .filter((key) => key !== "");
  const cell = (object: KubeObject) => {
    const value = valueAt(object, path);
    if (type === "date") return value === undefined ? "" : age(value);
    return value === undefined ? "" : value;
  };
  return { name, type, priority, cell };
}

function columnsOf(type: ResourceType): Column[] {
  if (!type.custom) return [nameColumn, ...(columnsByKind[type.storageKey] ?? []), ageColumn];
  const { columns } = type.custom;
  return [nameColumn, ...(columns.length > 0 ? columns.map(printed) : [ageColumn])];
}

/** The `meta.k8s.io/v1` Table of some objects. */
export function renderTable(type: ResourceType, items: Stored[], version: number): Record<string, unknown> {
  const columns = columnsOf(type);
  const rows = items.map(({ object }) => ({
    cells: columns.map((column) => column.cell(object)),
    object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata },
  }));
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: { resourceVersion: String(version) },
    columnDefinitions: columns.map(({ name, type: kind, priority }) => ({
      name,
      type: kind,
      format: name === "Name" ? "name" : "",
      description: "",
      priority,
    })),
    rows,
  };
}
