// Images and contexts, as builds lists, gives and takes them (docs/reference/off-site.md#images).

import { text } from "node:stream/consumers";
import { fetchBytes, type Mesh, type RawReply, sendBytes } from "@svc/mesh";
import { offsiteBuilds as contracts } from "@svc/proto";

export type StoredImages = contracts.OffsiteImages;
type StoredContext = contracts.OffsiteContext;
/** A manifest or a blob of a repository. */
export type ImagePart = {
  repository: string;
  kind: "manifest" | "blob";
  digest: string;
  size_bytes: number;
  media_type?: string;
};

export type BuildsStore = {
  images: () => Promise<StoredImages>;
  openImagePart: (part: ImagePart) => AsyncIterable<Uint8Array>;
  /** False when the registry had it; then `bytes` is not asked for any. */
  giveImagePart: (part: ImagePart, bytes: () => Promise<AsyncIterable<Uint8Array>>) => Promise<boolean>;
  /** Tags that name another image here; they stay. */
  tag: (image: { repository: string; digest: string; tags: string[] }) => Promise<string[]>;
  contexts: () => Promise<StoredContext[]>;
  openContext: (id: string) => AsyncIterable<Uint8Array>;
  /** Throws the fault `digest_mismatch` for bytes that are not those of the submission. */
  giveContext: (
    context: { id: string; size_bytes: number },
    bytes: AsyncIterable<Uint8Array>,
  ) => Promise<void>;
};

export function createBuildsStore(mesh: Pick<Mesh, "call" | "forward">, signal: AbortSignal): BuildsStore {
  const read = async (asked: Promise<RawReply>) => (await fetchBytes(ticketIn(await asked), signal)).body;
  const options = { signal };
  return {
    images: async () => {
      const body = await read(mesh.forward(contracts.readImages, {}, options));
      return contracts.OffsiteImages.parse(JSON.parse(await text(body)));
    },
    openImagePart: async function* ({ media_type: _, ...part }) {
      yield* await read(mesh.forward(contracts.readImagePart, part, options));
    },
    giveImagePart: async (part, bytes) => {
      const { byteTransfer } = await mesh.forward(contracts.writeImagePart, part, options);
      if (!byteTransfer) return false;
      await sendBytes(byteTransfer, await bytes(), { contentLength: part.size_bytes }, signal);
      return true;
    },
    tag: async (image) => (await mesh.call(contracts.tagImage, image, options)).kept,
    contexts: async () => {
      const contexts: StoredContext[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await mesh.call(contracts.listContexts, cursor === undefined ? {} : { cursor }, options);
        contexts.push(...page.items);
        cursor = page.next;
        if (cursor === undefined) return contexts;
      }
    },
    openContext: async function* (id) {
      yield* await read(mesh.forward(contracts.readContext, { id }, options));
    },
    giveContext: async ({ id, size_bytes }, bytes) => {
      const ticket = ticketIn(await mesh.forward(contracts.writeContext, { id }, options));
      await sendBytes(ticket, bytes, { contentLength: size_bytes }, signal);
    },
  };
}

function ticketIn({ byteTransfer }: RawReply): NonNullable<RawReply["byteTransfer"]> {
  if (!byteTransfer) throw new Error("builds answered without a byte transfer");
  return byteTransfer;
}
