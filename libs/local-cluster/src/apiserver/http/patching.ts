import type { KubeObject } from "../../cluster-api.ts";
import { badRequest, unsupportedMediaType } from "../api-status.ts";
import { isObject } from "../json.ts";
import { jsonPatch } from "../patch/json-patch.ts";
import { mergePatch } from "../patch/merge-patch.ts";
import { strategicMerge } from "../patch/strategic-merge.ts";
import type { Registry, Target, WriteOptions } from "../registry/registry.ts";
import { readScale, writeScale } from "../scale.ts";
import type { BuiltinModels } from "../schema/builtin.ts";

/** The content types of a patch. */
const patchTypes = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
};

/** A patch as received, and how to write its result. */
type PatchRequest = {
  contentType: string;
  body: unknown;
  subresource: "status" | "scale" | undefined;
  options: WriteOptions;
};

/** The dependencies of the patch handlers. */
export type PatchDeps = { registry: Registry; models: BuiltinModels };

/** The content types that a kind accepts; strategic merge needs a built-in model. */
export function acceptedPatchTypes({ type }: Target): string[] {
  const { json, merge, strategic } = patchTypes;
  return type.custom ? [json, merge] : [json, merge, strategic];
}

/** Applies a patch of any kind; the result passes the same checks as an update. */
export function patchObject(deps: PatchDeps, target: Target, request: PatchRequest): KubeObject {
  const accepted = acceptedPatchTypes(target);
  if (!accepted.includes(request.contentType)) throw unsupportedMediaType(accepted);
  const { registry } = deps;
  const { type } = target;
  const current = registry.get(target).object;
  if (request.subresource === "scale") {
    const patched = patchValue(
      deps,
      { type: { ...target, type: { ...type, model: "V1Scale" } }, current: readScale(type, current) },
      request,
    );
    const object = registry.update(target, writeScale(type, current, patched), request.options);
    return readScale(type, object);
  }
  const patched = patchValue(deps, { type: target, current }, request);
  const subresource = request.subresource;
  return registry.update(target, patched, { ...request.options, subresource });
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
