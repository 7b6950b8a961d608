import type { Json } from "./client.ts";
import type { TestContext } from "./test-context.ts";

/** A custom kind for one case. */
type Widgets = {
  crd: string;
  path(name?: string, subresource?: string): string;
  make(name: string, spec?: Json): Json;
};

const schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      required: ["size"],
      properties: {
        size: { type: "string", enum: ["s", "m", "l"] },
        replicas: { type: "integer", minimum: 0, default: 1 },
        port: { "x-kubernetes-int-or-string": true },
        code: { type: "string", pattern: "^[a-z]+$", maxLength: 5 },
        note: { type: "string", nullable: true },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        labels: { type: "object", additionalProperties: { type: "string" } },
        parts: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            type: "object",
            required: ["name"],
            properties: { name: { type: "string" }, count: { type: "integer" } },
          },
        },
      },
    },
    status: {
      type: "object",
      properties: { phase: { type: "string" }, replicas: { type: "integer" }, selector: { type: "string" } },
    },
  },
};

function definition(group: string): Json {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: {
            status: {},
            scale: {
              specReplicasPath: ".spec.replicas",
              statusReplicasPath: ".status.replicas",
              labelSelectorPath: ".status.selector",
            },
          },
        },
      ],
    },
  };
}

/** Defines a custom kind in its own group, runs `work` and removes the kind. */
export async function withWidgets(
  world: TestContext,
  work: (widgets: Widgets) => Promise<void>,
): Promise<void> {
  const group = `${world.namespace}.example.svc`;
  const crd = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.${group}`;
  const base = `/apis/${group}/v1/namespaces/${world.namespace}/widgets`;
  await world.expect(201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    body: definition(group),
  });
  try {
    // A real server needs a moment until it serves a new kind, reads before writes.
    await world.eventually(crd, ({ body }) =>
      (body.status?.conditions ?? []).some(
        (one: Json) => one.type === "Established" && one.status === "True",
      ),
    );
    await world.eventually(base, ({ status }) => status === 200);
    await work({
      crd,
      path: (name, subresource) => [base, name, subresource].filter((part) => part !== undefined).join("/"),
      make: (name, spec = {}) => ({
        apiVersion: `${group}/v1`,
        kind: "Widget",
        metadata: { name },
        spec: { size: "s", ...spec },
      }),
    });
  } finally {
    await world.call("DELETE", crd);
  }
}
