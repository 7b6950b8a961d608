import type { KubeObject } from "../../cluster-api.ts";
import { ApiStatus, badRequest } from "../api-status.ts";
import { isObject, type JsonObject } from "../json.ts";
import type { ResourceType } from "../resource-type.ts";
import type { BuiltinModels } from "../schema/builtin.ts";
import {
  type FieldSet,
  type FieldShape,
  fieldsOf,
  itemName,
  sameField,
  shapeOf,
  showField,
  withoutField,
} from "./field-set.ts";
import { type Ownership, readOwnerships, stampNow, withOwnerships } from "./managed-fields.ts";

/** One server-side apply. */
export type ApplyInput = { current?: KubeObject; config: KubeObject; manager: string; force: boolean };

/**
 * The object after a server-side apply: what the manager sets is merged in, what it set before and sets no longer
 * is taken out unless someone else owns it. 409 with one cause per field that another manager owns with another
 * value, unless forced. An object that was never applied belongs to `before-first-apply`.
 */
export function applyObject(
  { models, type }: { models: BuiltinModels; type: ResourceType },
  { current, config, manager, force }: ApplyInput,
): KubeObject {
  if (config.metadata?.managedFields) throw badRequest("metadata.managedFields must be nil");
  const shape = shapeOf(models, type);
  const fields = fieldsOf(shape, config);
  const mine: Ownership = {
    manager,
    operation: "Apply",
    apiVersion: config.apiVersion,
    time: stampNow(),
    fields,
  };
  if (!current) return withOwnerships(config, [mine]);
  const owners = ownersOf(shape, current);
  const others = owners.filter((owner) => owner.manager !== manager || owner.operation !== "Apply");
  const taken = conflicts(shape, { fields, others, current, config });
  if (taken.length > 0 && !force) throw conflictStatus(taken);
  for (const { owner, path } of taken) owner.fields.delete(path);
  const before = owners.find((owner) => owner.manager === manager && owner.operation === "Apply");
  const dropped = [...(before?.fields ?? [])].filter((path) => !fields.has(path));
  const free = dropped.filter((path) => !others.some((owner) => owner.fields.has(path)));
  const { managedFields: _managed, ...metadata } = current.metadata;
  const base = takeOut(shape, { ...current, metadata }, free);
  const merged = mergeValue(shape, base, config) as KubeObject;
  const unchanged = before && sameSet(before.fields, fields) && dropped.length === 0;
  return withOwnerships(merged, [...others, unchanged ? { ...mine, time: before.time } : mine]);
}

function ownersOf(shape: FieldShape, current: KubeObject): Ownership[] {
  const owners = readOwnerships(current);
  if (owners.length > 0) return owners;
  const fields = fieldsOf(shape, current);
  const { apiVersion } = current;
  return [{ manager: "before-first-apply", operation: "Update", apiVersion, time: stampNow(), fields }];
}

type Taken = { owner: Ownership; path: string };

function conflicts(
  shape: FieldShape,
  {
    fields,
    others,
    current,
    config,
  }: { fields: FieldSet; others: Ownership[]; current: KubeObject; config: KubeObject },
): Taken[] {
  return [...fields].flatMap((path) => {
    if (path.endsWith("\n.") || sameField(shape, path, { a: current, b: config })) return [];
    return others.filter((owner) => owner.fields.has(path)).map((owner) => ({ owner, path }));
  });
}

function conflictStatus(taken: Taken[]): ApiStatus {
  const causes = taken.map(({ owner, path }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${JSON.stringify(owner.manager)}${owner.operation === "Update" ? ` using ${owner.apiVersion}` : ""}`,
    field: showField(path),
  }));
  const count = taken.length === 1 ? "1 conflict" : `${taken.length} conflicts`;
  const text = causes.map((cause) => `${cause.message}: ${cause.field}`).join("\n");
  return new ApiStatus(409, "Conflict", {
    message: `Apply failed with ${count}: ${text}`,
    details: { causes },
  });
}

// Deeper paths first, the items themselves last: an item goes once nothing in it is anyone else's.
function takeOut(shape: FieldShape, object: KubeObject, paths: string[]): unknown {
  const ordered = [...paths].sort((a, b) => b.length - a.length);
  const items = ordered.filter((path) => path.endsWith("\n."));
  let value: unknown = object;
  for (const path of ordered) {
    if (path.endsWith("\n.")) continue;
    const inItem = items.some((item) => path.startsWith(item.slice(0, -1)));
    if (!inItem) value = withoutField(shape, value, path);
  }
  for (const item of items) value = withoutField(shape, value, item.slice(0, -2));
  return value;
}

function mergeValue(shape: FieldShape, base: unknown, config: unknown): unknown {
  if (isObject(config)) {
    const out: JsonObject = isObject(base) ? { ...base } : {};
    for (const [key, value] of Object.entries(config))
      out[key] = mergeValue(shape.field(key), out[key], value);
    return out;
  }
  if (!Array.isArray(config) || !shape.listKeys || !Array.isArray(base)) return config;
  const out = [...base];
  for (const item of config) {
    const name = itemName(shape, item);
    const index = out.findIndex((old) => itemName(shape, old) === name);
    if (index < 0) out.push(item);
    else out[index] = mergeValue(shape.item(), out[index], item);
  }
  return out;
}

function sameSet(a: FieldSet, b: FieldSet): boolean {
  return a.size === b.size && [...a].every((path) => b.has(path));
}
