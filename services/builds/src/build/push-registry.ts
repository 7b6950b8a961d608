// What builds itself writes to the registry for an image that a Job has pushed: its provenance, then its tag.

import { isRegistryError, openRegistry, type Registry } from "@svc/registry";
import type { Settings } from "../config.ts";
import { isPlainHttp } from "../image/registry.ts";

export type PushDeps = {
  settings: Settings;
  /** `user:password` with the right to push, as it is now. */
  pushCredential: () => string | undefined;
  /** Over that of the settings, for tests. */
  registry?: Registry | undefined;
};

/** The registry will not take it, however often it is asked. */
export class PushRefused extends Error {
  override readonly name = "PushRefused";
}

/** Throws `PushRefused` where a repeat has no use, and `RegistryError` while the registry is unavailable. */
export async function writeTo<T>(
  { settings, pushCredential, registry }: PushDeps,
  { what, write }: { what: string; write: (registry: Registry) => Promise<T> },
): Promise<T> {
  try {
    return await write(registry ?? openForPush(settings, pushCredential()));
  } catch (error) {
    if (!isRegistryError(error) || error.kind === "unavailable") throw error;
    throw new PushRefused(`${what}: ${error.message}`, { cause: error });
  }
}

function openForPush({ registry }: Settings, given = ""): Registry {
  const [user = "", ...rest] = given.split(":");
  const credential = user === "" ? undefined : { user, password: rest.join(":") };
  return openRegistry({
    host: registry.url,
    plainHttp: isPlainHttp(registry),
    timeoutMs: registry.timeout,
    credential,
  });
}
