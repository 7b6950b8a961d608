import { Fault } from "@svc/proto";
import { readBucketCredential, type Settings } from "../config.ts";
import { openFolderStore } from "./folder-store.ts";
import type { ContextStore } from "./store.ts";

/** The store of `registry.user_uploads_context`; one that can't be opened is always unavailable, and says why. */
export async function openContextStore(settings: Settings, env?: NodeJS.ProcessEnv): Promise<ContextStore> {
  const { user_uploads_context: address } = settings.registry;
  const path = folderOf(address);
  if (path !== undefined) return openFolderStore(path);
  const place = bucketOf(address);
  if (!place) return unavailableStore("registry.user_uploads_context must name a folder or a bucket");
  const credential = readBucketCredential(settings, env);
  if (!credential) {
    const { s3_access_key_ref, s3_secret_key_ref } = settings.registry;
    return unavailableStore(`${s3_access_key_ref} and ${s3_secret_key_ref} must be set`);
  }
  // Its client takes memory, which an installation with a folder does without.
  const { openBucket } = await import("./bucket-store.ts");
  return openBucket({ ...endpointOf(settings), ...place, ...credential });
}

function folderOf(address: string): string | undefined {
  if (address.startsWith("/")) return address;
  if (!URL.canParse(address)) return undefined;
  const { protocol, host, pathname } = new URL(address);
  return protocol === "file:" && host === "" && pathname !== "/" ? decodeURIComponent(pathname) : undefined;
}

const bucketShape =
  /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/((?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._/-]{0,199}))?$/;

function bucketOf(address: string): { bucket: string; prefix: string } | undefined {
  const [, bucket, prefix = ""] = bucketShape.exec(address) ?? [];
  return bucket === undefined ? undefined : { bucket, prefix: prefix.replace(/\/$/, "") };
}

function endpointOf({ registry }: Settings) {
  const { s3_endpoint: given, s3_region: region, s3_path_style: pathStyle } = registry;
  const endpoint = given === "" || /^https?:/.test(given) ? given : `https://${given}`;
  return { region, pathStyle, ...(endpoint !== "" && { endpoint }) };
}

function unavailableStore(why: string): ContextStore {
  const refuse = async (): Promise<never> => {
    throw new Fault("uploads_store_unavailable", { message: `Uploads are not set up: ${why}.` });
  };
  // biome-ignore lint/correctness/useYield: there is nothing to read
  const refuseReader = async function* () {
    await refuse();
  };
  return {
    volume: refuse,
    put: refuse,
    read: refuseReader,
    readWhole: refuseReader,
    remove: async () => {},
    list: async () => [],
    close: () => {},
  };
}
