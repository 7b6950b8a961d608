import type { KubeObject } from "../../cluster-api.ts";
import { isObject, jsonEqual, stringAt } from "../json.ts";
import { type FieldSet, type FieldShape, fieldsOf, fromTree, sameField, toTree } from "./field-set.ts";

/** The fields that one manager owns, by applying or by updating. */
export type Ownership = {
  manager: string;
  operation: "Apply" | "Update";
  apiVersion: string;
  time: string;
  fields: FieldSet;
};

/** Reads `metadata.managedFields`. */
export function readOwnerships(object: KubeObject): Ownership[] {
  return (object.metadata.managedFields ?? []).filter(isObject).map((entry) => ({
    manager: stringAt(entry, "manager"),
    operation: entry["operation"] === "Apply" ? "Apply" : "Update",
    apiVersion: stringAt(entry, "apiVersion"),
    time: stringAt(entry, "time"),
    fields: fromTree(entry["fieldsV1"]),
  }));
}

/** The object with these owners; owners of nothing are left out. */
export function withOwnerships(object: KubeObject, owners: Ownership[]): KubeObject {
  const managedFields = owners
    .filter(({ fields }) => fields.size > 0)
    .map(({ manager, operation, apiVersion, time, fields }) => ({
      ...{ manager, operation, apiVersion, time },
      fieldsType: "FieldsV1",
      fieldsV1: toTree(fields),
    }));
  const { managedFields: _old, ...metadata } = object.metadata;
  return { ...object, metadata: managedFields.length > 0 ? { ...metadata, managedFields } : metadata };
}

/** RFC 3339 seconds of now. */
export function stampNow(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, "Z");
}

/**
 * Gives what an ordinary write changed to its writer. Objects that nobody has ever applied carry no ownership,
 * so most writes cost nothing here.
 */
export function trackUpdate(
  next: KubeObject,
  previous: KubeObject,
  { manager, shape }: { manager: string; shape: () => FieldShape },
): KubeObject {
  if (!previous.metadata.managedFields?.length) return next;
  const kept = { ...next, metadata: { ...next.metadata, managedFields: previous.metadata.managedFields } };
  if (jsonEqual(stripped(kept), stripped(previous))) return kept;
  const layout = shape();
  const now = fieldsOf(layout, next);
  const changed = new Set([...now].filter((path) => !sameField(layout, path, { a: next, b: previous })));
  const owners = readOwnerships(previous).map((owner) => ({
    ...owner,
    fields: new Set([...owner.fields].filter((path) => now.has(path) && !changed.has(path))),
  }));
  const own = owners.find((owner) => owner.manager === manager && owner.operation === "Update");
  if (own) for (const path of changed) own.fields.add(path);
  else
    owners.push({
      manager,
      operation: "Update",
      apiVersion: next.apiVersion,
      time: stampNow(),
      fields: changed,
    });
  return withOwnerships(kept, owners);
}

function stripped(object: KubeObject): KubeObject {
  const {
    resourceVersion: _version,
    generation: _generation,
    managedFields: _fields,
    ...metadata
  } = object.metadata;
  return { ...object, metadata: metadata as KubeObject["metadata"] };
}
