import { Fault } from "@svc/proto";
import { openFolderStore } from "./folder-store.ts";
import type { ContextStore } from "./store.ts";

/** The store of `registry.user_uploads_context`: a local path or `file://`; anything else is always unavailable. */
export function openContextStore(address: string): ContextStore {
  const path = folderOf(address);
  return path === undefined ? unavailableStore() : openFolderStore(path);
}

function folderOf(address: string): string | undefined {
  if (address.startsWith("/")) return address;
  if (!URL.canParse(address)) return undefined;
  const { protocol, host, pathname } = new URL(address);
  return protocol === "file:" && host === "" && pathname !== "/" ? decodeURIComponent(pathname) : undefined;
}

function unavailableStore(): ContextStore {
  const refuse = async (): Promise<never> => {
    const message = "Uploads are not set up; registry.user_uploads_context must name a folder.";
    throw new Fault("uploads_store_unavailable", { message });
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
  };
}
