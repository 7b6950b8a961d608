import type { MinecraftServerSpec } from "@svc/proto";
import { positiveQuantity } from "../cluster/quantity.ts";
import { rconPort } from "../cluster/resource.ts";

/**
 * Why a spec is invalid, in one sentence; undefined when it is valid (docs/reference/server-states.md#conditions).
 * `defaultStorage` is the size of a server that names none.
 */
export function faultOfSpec(spec: MinecraftServerSpec, defaultStorage: string): string | undefined {
  if (!spec.image?.trim()) return "spec.image is empty; name the server image.";
  return (
    faultOfStorage(spec, defaultStorage) ?? faultOfResources(spec) ?? faultOfRcon(spec) ?? faultOfEnv(spec)
  );
}

function faultOfStorage({ storage }: MinecraftServerSpec, defaultStorage: string): string | undefined {
  const size = storage?.size || defaultStorage;
  if (positiveQuantity(size) !== undefined) return undefined;
  return `spec.storage.size ${JSON.stringify(size)} is not a quantity above zero such as 8Gi.`;
}

function faultOfResources({ resources }: MinecraftServerSpec): string | undefined {
  for (const kind of ["limits", "requests"] as const) {
    for (const [name, value] of Object.entries(resources?.[kind] ?? {})) {
      if (positiveQuantity(value) !== undefined) continue;
      return `spec.resources.${kind}.${name} ${JSON.stringify(value)} is not a quantity above zero.`;
    }
  }
  for (const [name, request] of Object.entries(resources?.requests ?? {})) {
    const limit = resources?.limits?.[name];
    if (limit === undefined || (positiveQuantity(request) ?? 0) <= (positiveQuantity(limit) ?? 0)) continue;
    return `spec.resources.requests.${name} (${request}) is above its limit (${limit}).`;
  }
  return undefined;
}

function faultOfRcon({ rcon }: MinecraftServerSpec): string | undefined {
  const port = rcon?.port ?? 0;
  if (port !== 0 && port !== rconPort) return `spec.rcon.port is ${port}; only ${rconPort} is possible.`;
  if (rcon?.secretRef && !(rcon.secretRef.name && rcon.secretRef.key)) {
    return "spec.rcon.secretRef needs both name and key.";
  }
  return undefined;
}

function faultOfEnv({ env }: MinecraftServerSpec): string | undefined {
  const bad = env?.find(({ name }) => !/^[A-Za-z_.-][A-Za-z0-9_.-]*$/.test(name));
  return bad && `spec.env has the name ${JSON.stringify(bad.name)}, which is not a valid variable name.`;
}
