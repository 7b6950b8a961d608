import { badRequest } from "../api-status.ts";
import { isObject, type JsonObject, jsonEqual } from "../json.ts";
import { type BuiltinModels, fieldType } from "../schema/builtin.ts";
import { mergeKeyOf } from "../schema/merge-keys.ts";

const deletePrefix = "$deleteFromPrimitiveList/";
const orderPrefix = "$setElementOrder/";

/**
 * Kubernetes' strategic merge patch of a built-in kind: lists with a merge key merge item by item; the directives
 * `$patch` (delete, replace, merge), `$retainKeys`, `$deleteFromPrimitiveList` and `$setElementOrder` are supported.
 * The target is not changed.
 */
export function strategicMerge(models: BuiltinModels, model: string, sides: Sides): JsonObject {
  return mergeObject({ models, model }, sides);
}

/** The target and the patch. */
type Sides = { target: unknown; patch: unknown };

type Where = { models: BuiltinModels; model: string };

function mergeObject(where: Where, { target, patch }: Sides): JsonObject {
  if (!isObject(patch)) throw badRequest("a strategic merge patch is an object");
  const directive = patch["$patch"];
  if (directive === "delete") return {};
  const base: JsonObject = directive === "replace" || !isObject(target) ? {} : { ...target };
  retainKeys(base, patch);
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith("$")) continue;
    if (value === null) delete base[key];
    else base[key] = mergeField(where, key, { target: base[key], patch: value });
  }
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith(deletePrefix)) deletePrimitives(base, key.slice(deletePrefix.length), value);
    if (key.startsWith(orderPrefix))
      setOrder(where, base, { field: key.slice(orderPrefix.length), order: value });
  }
  return base;
}

function retainKeys(base: JsonObject, patch: JsonObject): void {
  const kept = patch["$retainKeys"];
  if (!Array.isArray(kept)) return;
  for (const key of Object.keys(base)) if (!kept.includes(key)) delete base[key];
}

function mergeField(where: Where, field: string, sides: Sides): unknown {
  const type = fieldType(where.models, where.model, field) ?? "any";
  const inner = type.replace(/^(\[\]|\{\})/, "");
  if (Array.isArray(sides.patch))
    return mergeList({ ...where, model: inner }, mergeKeyOf(where.model, field), sides);
  if (isObject(sides.patch)) return mergeObject({ ...where, model: inner }, sides);
  return sides.patch;
}

function mergeList(where: Where, key: string | undefined, sides: Sides): unknown[] {
  const patch = sides.patch as unknown[];
  const target = Array.isArray(sides.target) ? sides.target : [];
  if (key === undefined) return stripDirectives(patch);
  if (key === "") return [...target, ...patch.filter((item) => !target.some((old) => jsonEqual(old, item)))];
  if (patch.some((item) => isObject(item) && item["$patch"] === "replace")) return stripDirectives(patch);
  const out = [...target];
  for (const item of patch) mergeItem(where, key, { out, item });
  return out;
}

function mergeItem(where: Where, key: string, { out, item }: { out: unknown[]; item: unknown }): void {
  if (!isObject(item) || item[key] === undefined)
    throw badRequest(`map does not contain declared merge key: ${key}`);
  const index = out.findIndex((old) => isObject(old) && jsonEqual(old[key], item[key]));
  if (item["$patch"] === "delete") {
    if (index >= 0) out.splice(index, 1);
    return;
  }
  const merged = mergeObject(where, { target: index < 0 ? undefined : out[index], patch: item });
  if (index < 0) out.push(merged);
  else out[index] = merged;
}

function stripDirectives(list: unknown[]): unknown[] {
  const kept = list.filter(
    (item) => !isObject(item) || item["$patch"] === undefined || Object.keys(item).length > 1,
  );
  return kept.map((item) => {
    if (!isObject(item) || item["$patch"] === undefined) return item;
    const { $patch: _directive, ...rest } = item;
    return rest;
  });
}

function deletePrimitives(base: JsonObject, field: string, values: unknown): void {
  const list = base[field];
  if (!Array.isArray(list) || !Array.isArray(values)) return;
  base[field] = list.filter((item) => !values.some((value) => jsonEqual(value, item)));
}

function setOrder(where: Where, base: JsonObject, wanted: { field: string; order: unknown }): void {
  const list = base[wanted.field];
  const key = mergeKeyOf(where.model, wanted.field);
  if (!Array.isArray(list) || !Array.isArray(wanted.order) || key === undefined) return;
  const identity = (item: unknown) => JSON.stringify(key !== "" && isObject(item) ? item[key] : item);
  const order = wanted.order.map(identity);
  const rank = (item: unknown) => {
    const index = order.indexOf(identity(item));
    return index < 0 ? order.length : index;
  };
  base[wanted.field] = [...list].sort((a, b) => rank(a) - rank(b));
}
