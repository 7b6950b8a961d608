import type { CustomResourceDefinition } from "@svc/kube";
import { MinecraftServer } from "@svc/proto";
import { structuralSchema } from "./schema.ts";

const { group, version, kind, plural, singular, shortNames } = MinecraftServer;

const columns = [
  { name: "Phase", type: "string", jsonPath: ".status.phase" },
  { name: "Ready", type: "boolean", jsonPath: ".status.ready" },
  { name: "Players", type: "integer", jsonPath: ".status.players.online" },
  { name: "Node", type: "string", jsonPath: ".status.nodeName" },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
];

// A fallback may have no address. API servers of old (1.20) take an empty string for null and refuse it otherwise.
function statusSchema(): Record<string, unknown> {
  const schema = structuralSchema(MinecraftServer.status) as { properties: Record<string, Node> };
  const address = schema.properties["endpoint"]?.properties?.["address"];
  if (!address) throw new Error("the model of the status has no endpoint.address");
  address.nullable = true;
  return schema;
}

type Node = { nullable?: boolean; properties?: Record<string, Node> };

/** The definition of MinecraftServer that `svc migrate up` applies (docs/reference/server-resource.md#kind). No defaults: code has them. */
export function minecraftServerCrd(): CustomResourceDefinition {
  const properties = {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object" },
    spec: structuralSchema(MinecraftServer.spec),
    status: statusSchema(),
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames: [...shortNames] },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns,
          schema: { openAPIV3Schema: { type: "object", required: ["spec"], properties } },
        },
      ],
    },
  };
}
