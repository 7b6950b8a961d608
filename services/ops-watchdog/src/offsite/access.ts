// Opens the bucket and reads the keys that the settings name (docs/reference/off-site.md#keys).

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ObjectStore, type ObjectStoreOptions, openObjectStore } from "@svc/object-store";
import { type KeyRing, parseRing, readKeyFile } from "@svc/sealed";
import type { OffsiteSettings } from "../config.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Says in one sentence which setting is missing or wrong. */
export class OffsiteSettingsError extends Error {
  override name = "OffsiteSettingsError";
}

/** A secret from its variable, or from the file that `<variable>_FILE` names; empty when neither is set. */
function readSecret(name: string, env: Environment): string {
  const file = env[`${name}_FILE`];
  return (file ? readFileSync(file, "utf8") : (env[name] ?? "")).trim();
}

/** The keys of the copies, of the variable or else of the file. Throws when there are none. */
export async function readKeys(settings: OffsiteSettings, env: Environment): Promise<KeyRing> {
  const text = readSecret(settings.key_ref, env);
  if (text !== "") {
    try {
      return parseRing(text);
    } catch (error) {
      throw new OffsiteSettingsError(`${settings.key_ref}: ${(error as Error).message}`);
    }
  }
  try {
    return await readKeyFile(settings.key_file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new OffsiteSettingsError(
      `there is no off-site key: ${settings.key_ref} is not set and there is no ${settings.key_file}; \`svc offsite keygen\` makes one`,
    );
  }
}

/** Opens the bucket. Throws when off-site copies are off or a credential is missing; makes no request. */
export function openBucket(
  settings: OffsiteSettings,
  env: Environment,
  more: Pick<ObjectStoreOptions, "onRequest" | "timing"> = {},
): ObjectStore {
  const { bucket, region, prefix, path_style, access_key_ref, secret_key_ref, upload_rate, state_dir } =
    settings;
  if (bucket === "") throw new OffsiteSettingsError("off-site copies are off: offsite.bucket is empty");
  const accessKey = readSecret(access_key_ref, env);
  const secretKey = readSecret(secret_key_ref, env);
  if (accessKey === "" || secretKey === "")
    throw new OffsiteSettingsError(`${accessKey === "" ? access_key_ref : secret_key_ref} is not set`);
  return openObjectStore({
    endpoint: endpointOf(settings),
    region,
    bucket,
    prefix,
    pathStyle: path_style,
    accessKey,
    secretKey,
    uploadRate: upload_rate,
    uploadDir: join(state_dir, "uploads"),
    ...more,
    timing: { objectGraceMs: settings.object_deadline, minRate: settings.min_rate, ...more.timing },
  });
}

/** A bare host is reached over TLS; undefined = AWS. */
function endpointOf({ endpoint }: OffsiteSettings): string | undefined {
  if (endpoint === "") return undefined;
  return /^https?:\/\//.test(endpoint) ? endpoint : `https://${endpoint}`;
}
