import type { JsonObject } from "../json.ts";

/** A claim's spec with its defaults. */
export function defaultClaimSpec(spec: JsonObject): JsonObject {
  return { volumeMode: "Filesystem", ...spec };
}
