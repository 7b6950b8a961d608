import type { KubeObject } from "../../cluster-api.ts";
import { timeText } from "../../time.ts";
import { fieldError, type StatusCause } from "../field-error.ts";
import { isObject, type JsonObject, jsonEqual, listAt, objectAt, stringAt } from "../json.ts";
import type { ResourceType, ScalePaths } from "../resource-type.ts";
import type { StructuralSchema } from "../schema/structural.ts";
import type { Strategy } from "./strategy.ts";

/** Keeps a deleted CRD until its objects are gone. */
export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

function establishedStatus(definition: KubeObject, now: Date): JsonObject {
  const spec = objectAt(definition, "spec");
  const time = timeText(now);
  const condition = (type: string, reason: string, message: string) => ({
    lastTransitionTime: time,
    message,
    reason,
    status: "True",
    type,
  });
  const stored = listAt(spec, "versions").filter(
    (version) => isObject(version) && version["storage"] === true,
  );
  return {
    acceptedNames: spec["names"],
    conditions: [
      condition("NamesAccepted", "NoConflicts", "no conflicts found"),
      condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
    ],
    storedVersions: stored.map((version) => stringAt(version, "name")),
  };
}

/** CustomResourceDefinitions: established as soon as they are stored. */
export const definitionStrategy: Strategy = {
  defaults: (definition) => {
    const spec = objectAt(definition, "spec");
    const names = objectAt(spec, "names");
    const kind = stringAt(names, "kind");
    const filled = { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names };
    return { ...definition, spec: { conversion: { strategy: "None" }, ...spec, names: filled } };
  },
  onCreate: (definition, { now }) => ({
    ...definition,
    metadata: {
      ...definition.metadata,
      finalizers: [...(definition.metadata.finalizers ?? []), cleanupFinalizer],
    },
    status: establishedStatus(definition, now()),
  }),
  validate: (definition) => {
    const spec = objectAt(definition, "spec");
    const names = objectAt(spec, "names");
    const wanted = `${stringAt(names, "plural")}.${stringAt(spec, "group")}`;
    const causes: StatusCause[] = [];
    if (definition.metadata.name !== wanted) {
      causes.push(
        fieldError.invalid(
          "metadata.name",
          definition.metadata.name,
          'must be spec.names.plural+"."+spec.group',
        ),
      );
    }
    for (const key of ["plural", "kind"]) {
      if (stringAt(names, key) === "") causes.push(fieldError.required(`spec.names.${key}`));
    }
    if (stringAt(spec, "group") === "") causes.push(fieldError.required("spec.group"));
    if (!["Namespaced", "Cluster"].includes(stringAt(spec, "scope"))) {
      causes.push(fieldError.unsupported("spec.scope", spec["scope"] ?? "", ["Cluster", "Namespaced"]));
    }
    return [...causes, ...validateVersions(spec)];
  },
  validateUpdate: (next, previous) =>
    ["group", "scope"].flatMap((key) => {
      const value = objectAt(next, "spec")[key];
      if (jsonEqual(value, objectAt(previous, "spec")[key])) return [];
      return [fieldError.invalid(`spec.${key}`, value, "field is immutable")];
    }),
};

function validateVersions(spec: JsonObject): StatusCause[] {
  const versions = listAt(spec, "versions");
  const causes: StatusCause[] = [];
  if (versions.filter((version) => isObject(version) && version["storage"] === true).length !== 1) {
    causes.push(
      fieldError.invalid(
        "spec.versions",
        versions.length,
        "must have exactly one version marked as storage version",
      ),
    );
  }
  versions.forEach((version, index) => {
    const schema = objectAt(objectAt(version, "schema"), "openAPIV3Schema");
    if (Object.keys(schema).length === 0) {
      causes.push(
        fieldError.required(`spec.versions[${index}].schema.openAPIV3Schema`, "schemas are required"),
      );
    } else if (schema["type"] !== "object") {
      causes.push(
        fieldError.invalid(
          `spec.versions[${index}].schema.openAPIV3Schema.type`,
          schema["type"] ?? "",
          "must be object at the root",
        ),
      );
    }
  });
  return causes;
}

function pathOf(jsonPath: unknown): string[] {
  return typeof jsonPath === "string" ? jsonPath.split(".").filter((key) => key !== "") : [];
}

function scaleOf(version: unknown): ScalePaths | undefined {
  const scale = objectAt(objectAt(version, "subresources"), "scale");
  if (stringAt(scale, "specReplicasPath") === "") return undefined;
  return {
    replicas: pathOf(scale["specReplicasPath"]),
    statusReplicas: pathOf(scale["statusReplicasPath"]),
    ...(scale["labelSelectorPath"] ? { selector: pathOf(scale["labelSelectorPath"]) } : {}),
  };
}

/** The resources that a definition serves: one, as only the storage version is served. */
export function typesOfDefinition(definition: KubeObject): ResourceType[] {
  const spec = objectAt(definition, "spec");
  const names = objectAt(spec, "names");
  const group = stringAt(spec, "group");
  const versions = listAt(spec, "versions").filter(isObject);
  const served = versions.filter((version) => version["storage"] === true && version["served"] === true);
  return served.map((version) => {
    const scale = scaleOf(version);
    return {
      group,
      version: stringAt(version, "name"),
      kind: stringAt(names, "kind"),
      listKind: stringAt(names, "listKind"),
      plural: stringAt(names, "plural"),
      singular: stringAt(names, "singular"),
      shortNames: listAt(names, "shortNames").map(String),
      categories: listAt(names, "categories").map(String),
      namespaced: spec["scope"] === "Namespaced",
      status: isObject(objectAt(version, "subresources")["status"]),
      generation: true,
      storageKey: `${group}/${stringAt(names, "plural")}`,
      custom: {
        crd: definition.metadata.name,
        schema: objectAt(objectAt(version, "schema"), "openAPIV3Schema") as StructuralSchema,
      },
      ...(scale ? { scale } : {}),
    };
  });
}
