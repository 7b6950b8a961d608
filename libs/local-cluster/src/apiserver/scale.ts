import type { KubeObject } from "../cluster-api.ts";
import { badRequest, invalid } from "./api-status.ts";
import { fieldError } from "./field-error.ts";
import { isObject, type JsonObject, objectAt, valueAt, withValueAt } from "./json.ts";
import type { ResourceType, ScalePaths } from "./resource-type.ts";

/** The `autoscaling/v1` Scale of an object. */
export function readScale(type: ResourceType, object: KubeObject): KubeObject {
  const paths = type.scale ?? { replicas: [], statusReplicas: [] };
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = valueAt(object, paths.replicas);
  const selector = selectorText(paths, type, object);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: {
      name,
      ...(namespace ? { namespace } : {}),
      ...(uid ? { uid } : {}),
      ...(resourceVersion ? { resourceVersion } : {}),
      ...(creationTimestamp ? { creationTimestamp } : {}),
    },
    spec: typeof replicas === "number" && replicas > 0 ? { replicas } : {},
    status: {
      replicas: Number(valueAt(object, paths.statusReplicas) ?? 0),
      ...(selector ? { selector } : {}),
    },
  };
}

function selectorText(paths: ScalePaths, type: ResourceType, object: KubeObject): string {
  if (paths.selector) return String(valueAt(object, paths.selector) ?? "");
  if (type.custom) return "";
  const labels = Object.entries(objectAt(objectAt(object.spec, "selector"), "matchLabels"));
  return labels.map(([key, value]) => `${key}=${String(value)}`).join(",");
}

/** The object with the replicas of a Scale; 422 for a negative number. */
export function writeScale(type: ResourceType, object: KubeObject, scale: unknown): KubeObject {
  if (!isObject(scale) || !type.scale) throw badRequest("the body is not a Scale");
  const replicas = objectAt(scale, "spec")["replicas"] ?? 0;
  if (typeof replicas !== "number" || !Number.isInteger(replicas) || replicas < 0) {
    const cause = fieldError.invalid("spec.replicas", replicas, "must be greater than or equal to 0");
    throw invalid({ group: "autoscaling", plural: "scales", kind: "Scale" }, object.metadata.name, [cause]);
  }
  const wanted = objectAt(scale, "metadata")["resourceVersion"];
  const metadata =
    typeof wanted === "string" && wanted !== ""
      ? { ...object.metadata, resourceVersion: wanted }
      : object.metadata;
  return withValueAt({ ...object, metadata } as JsonObject, type.scale.replicas, replicas) as KubeObject;
}
