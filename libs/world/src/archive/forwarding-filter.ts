import type { Folder } from "../path/folder.ts";
import { findProtected, isForwarding } from "../path/protect.ts";
import { mostForwardingBytes, scrubForwarding } from "../path/scrub.ts";
import type { WriteOptions } from "./write.ts";

/** Removes the secret of the proxy, under any file name, from archives that may leave the cluster. */
export async function forwardingFilter(world: Folder): Promise<WriteOptions["filter"]> {
  const known = await findProtected(world);
  return async ({ file, stats }) => {
    if (!isForwarding(known, stats)) return undefined;
    if (stats.size > mostForwardingBytes) return "omit";
    return Buffer.from(scrubForwarding((await file.readAll()).toString("latin1")), "latin1");
  };
}
