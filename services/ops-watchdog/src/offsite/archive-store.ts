// The archives, as storage lists, gives and takes them (docs/reference/off-site.md#archives).

import { fetchBytes, type Mesh, sendBytes } from "@svc/mesh";
import { offsiteArchives as contracts } from "@svc/proto";
import type { Archive } from "./plan-archives.ts";

type Copy = { id: string; sha256: string; at: string | null };

export type ArchiveStore = {
  list: () => Promise<{ archives: Archive[]; longestRetentionMs: number }>;
  open: (id: string) => AsyncIterable<Uint8Array>;
  /** The manifest of a deduplicated archive, or one of the packs that it names. */
  openChunks: (id: string, pack?: string) => AsyncIterable<Uint8Array>;
  /** Throws the fault `digest_mismatch` for bytes that are not those of the row. */
  giveBack: (archive: Archive, bytes: AsyncIterable<Uint8Array>) => Promise<void>;
  record: (copies: readonly Copy[]) => Promise<void>;
  confirm: (listedAt: Date) => Promise<void>;
};

const batch = 500;

export function createArchiveStore(mesh: Pick<Mesh, "call" | "forward">, signal: AbortSignal): ArchiveStore {
  type Contract = typeof contracts.readArchive | typeof contracts.readChunks | typeof contracts.writeArchive;
  const ticketOf = async (contract: Contract, id: string, pack?: string) => {
    const { byteTransfer } = await mesh.forward(
      contract,
      { id, ...(pack !== undefined && { pack }) },
      { signal },
    );
    if (!byteTransfer) throw new Error(`${contract.subject} answered without a byte transfer`);
    return byteTransfer;
  };
  return {
    list: async () => {
      const archives: Archive[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await mesh.call(contracts.listArchives, cursor === undefined ? {} : { cursor }, {
          signal,
        });
        archives.push(...page.items);
        cursor = page.next;
        if (cursor === undefined)
          return { archives, longestRetentionMs: page.longest_retention_seconds * 1_000 };
      }
    },
    open: async function* (id) {
      const { body } = await fetchBytes(await ticketOf(contracts.readArchive, id), signal);
      yield* body as AsyncIterable<Uint8Array>;
    },
    openChunks: async function* (id, pack) {
      const { body } = await fetchBytes(await ticketOf(contracts.readChunks, id, pack), signal);
      yield* body as AsyncIterable<Uint8Array>;
    },
    giveBack: async ({ id, size_bytes }, bytes) => {
      await sendBytes(
        await ticketOf(contracts.writeArchive, id),
        bytes,
        { contentLength: size_bytes },
        signal,
      );
    },
    record: async (copies) => {
      for (let at = 0; at < copies.length; at += batch)
        await mesh.call(contracts.recordCopies, { copies: copies.slice(at, at + batch) }, { signal });
    },
    confirm: async (listedAt) => {
      await mesh.call(contracts.confirmCopies, { listed_at: listedAt.toISOString() }, { signal });
    },
  };
}
