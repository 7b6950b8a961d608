import { isDeepStrictEqual } from "node:util";
import type { ClusterApi, KubeObject, ResourceRef } from "../cluster-api.ts";

/** Writes the named status fields when one of them differs; a field given as null is removed. */
export function writeStatus(
  api: ClusterApi,
  ref: ResourceRef,
  { object, status }: { object: KubeObject; status: Record<string, unknown> },
): void {
  const known = object.status ?? {};
  const changed = Object.entries(status).filter(
    ([key, value]) => !isDeepStrictEqual(known[key] ?? null, value ?? null),
  );
  if (changed.length === 0) return;
  const { name, namespace } = object.metadata;
  api.mergePatch(
    ref,
    { name, ...(namespace === undefined ? {} : { namespace }), subresource: "status" },
    { status: Object.fromEntries(changed.map(([key, value]) => [key, value ?? null])) },
  );
}
