import type { KubeObject } from "../../cluster-api.ts";
import { badRequest, notFound, unsupportedMediaType } from "../api-status.ts";
import { isObject } from "../json.ts";
import { applyObject } from "../patch/apply.ts";
import { jsonPatch } from "../patch/json-patch.ts";
import { mergePatch } from "../patch/merge-patch.ts";
import { strategicMerge } from "../patch/strategic-merge.ts";
import type { Registry, Target, WriteOptions } from "../registry/registry.ts";
import { readScale, writeScale } from "../scale.ts";
import type { BuiltinModels } from "../schema/builtin.ts";

/** The content types of a patch. */
export const patchTypes = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

/** A patch as it came, and how to write its result. */
export type PatchRequest = {
  contentType: string;
  body: unknown;
  subresource: "status" | "scale" | undefined;
  force: boolean;
  options: WriteOptions & { manager: string };
};

/** What the patch paths work on. */
export type PatchDeps = { registry: Registry; models: BuiltinModels };

/** The content types that a kind takes; strategic merge needs a built-in model. */
export function acceptedPatchTypes({ type }: Target): string[] {
  const { json, merge, strategic, apply } = patchTypes;
  return type.custom ? [json, merge, apply] : [json, merge, strategic, apply];
}

/** Applies a patch of any kind; the result passes the same checks as an update. */
export function patchObject(
  deps: PatchDeps,
  target: Target,
  request: PatchRequest,
): { created: boolean; object: KubeObject } {
  const accepted = acceptedPatchTypes(target);
  if (!accepted.includes(request.contentType)) throw unsupportedMediaType(accepted);
  if (request.contentType === patchTypes.apply) return apply(deps, target, request);
  const { registry } = deps;
  const { type } = target;
  const current = registry.shown(type, registry.get(target).object);
  if (request.subresource === "scale") {
    const patched = patchValue(
      deps,
      { type: { ...target, type: { ...type, model: "V1Scale" } }, current: readScale(type, current) },
      request,
    );
    const object = registry.update(target, writeScale(type, current, patched), request.options);
    return { created: false, object: readScale(type, object) };
  }
  const patched = patchValue(deps, { type: target, current }, request);
  const subresource = request.subresource;
  return { created: false, object: registry.update(target, patched, { ...request.options, subresource }) };
}

function patchValue(
  { models }: PatchDeps,
  { type: { type }, current }: { type: Target; current: KubeObject },
  { contentType, body }: PatchRequest,
): unknown {
  if (contentType === patchTypes.json) return jsonPatch(current, body);
  if (!isObject(body)) throw badRequest("a merge patch is a JSON object");
  if (contentType === patchTypes.merge) return mergePatch(current, body);
  return strategicMerge(models, type.model ?? "", { target: current, patch: body });
}

function apply(
  { registry, models }: PatchDeps,
  target: Target,
  request: PatchRequest,
): { created: boolean; object: KubeObject } {
  const { type } = target;
  const { body, options, subresource } = request;
  if (!isObject(body)) throw badRequest("an applied object is a JSON or YAML object");
  if (typeof body["apiVersion"] !== "string" || typeof body["kind"] !== "string") {
    throw badRequest("an applied object names its apiVersion and kind");
  }
  const current = registry.find(target)?.object;
  const result = applyObject(
    { models, type },
    {
      ...(current ? { current: registry.shown(type, current) } : {}),
      config: body as KubeObject,
      manager: options.manager,
      force: request.force,
    },
  );
  if (current) {
    const status = subresource === "status" ? { subresource: "status" as const } : {};
    return {
      created: false,
      object: registry.update(target, result, { ...options, ...status, applied: true }),
    };
  }
  if (subresource) throw notFound(type, target.name);
  const named = { ...result, metadata: { ...result.metadata, name: result.metadata.name || target.name } };
  return { created: true, object: registry.create(type, named, { ...options, namespace: target.namespace }) };
}
