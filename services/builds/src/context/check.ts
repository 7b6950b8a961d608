// Reads a staged context once from start to end: its digest, its entries, and whether all of them may be unpacked.

import { createHash } from "node:crypto";
import { Fault } from "@svc/proto";
import { isWorldFault, readContext } from "@svc/world";
import type { Blob } from "../database.ts";
import { encodeIndex, type IndexEntry } from "./entry-index.ts";
import { type ContextStore, newBlobName } from "./store.ts";

export type CheckedContext = {
  sha256: string;
  bytes: number;
  index: Blob;
  /** The recipe at the root, cut to what is kept as a record. */
  dockerfile: string;
  /** Devices and pipes that will be missing. */
  skipped: number;
};

const mostDockerfileBytes = 65_536;

/** Throws `bad_request`, naming the entry, for an archive that must not be built; stores the index of one that may. */
export async function checkContext(
  store: ContextStore,
  { id, parts }: { id: string; parts: readonly Blob[] },
  signal: AbortSignal,
): Promise<CheckedContext> {
  const hash = createHash("sha256");
  let bytes = 0;
  const packed = async function* () {
    for await (const chunk of readParts(store, parts, signal)) {
      hash.update(chunk);
      bytes += chunk.length;
      // It is unpacked while the next one is read.
      yield Buffer.from(chunk);
    }
  };
  const recipe: Buffer[] = [];
  const reading = readContext(packed());
  const name = newBlobName(id, "index");
  let indexBytes = 0;
  const indexed = async function* () {
    for await (const chunk of encodeIndex(describe(reading.entries, recipe))) {
      indexBytes += chunk.length;
      yield chunk;
    }
  };
  try {
    await store.put(name, indexed(), signal);
  } catch (error) {
    throw isWorldFault(error) ? new Fault("bad_request", { message: error.message, cause: error }) : error;
  }
  const dockerfile = new TextDecoder().decode(Buffer.concat(recipe)).replaceAll("\0", "");
  const index = { name, size: indexBytes };
  return { sha256: hash.digest("hex"), bytes, index, dockerfile, skipped: reading.skipped() };
}

/** Bytes of all parts in order; a chunk is valid until the next. */
export async function* readParts(
  store: Pick<ContextStore, "read">,
  parts: readonly Blob[],
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  for (const part of parts) yield* store.read(part, signal);
}

async function* describe(
  entries: ReturnType<typeof readContext>["entries"],
  recipe: Buffer[],
): AsyncGenerator<IndexEntry> {
  let recipeBytes = 0;
  for await (const { path, kind, size, target, content } of entries) {
    if (kind === "folder") yield { path, kind, size: 0 };
    if (target !== undefined) yield { path, kind: "link", size: 0, target };
    if (kind !== "file") continue;
    const hash = createHash("sha256");
    for await (const chunk of content()) {
      hash.update(chunk);
      if (path !== "Dockerfile" || recipeBytes >= mostDockerfileBytes) continue;
      const kept = Buffer.from(chunk.subarray(0, mostDockerfileBytes - recipeBytes));
      recipeBytes += kept.length;
      recipe.push(kept);
    }
    yield { path, kind, size, sha256: hash.digest("hex") };
  }
}
