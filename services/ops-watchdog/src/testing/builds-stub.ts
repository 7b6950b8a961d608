// Builds as off-site copies see it: images and contexts in memory, answered over NATS.

import { randomBytes } from "node:crypto";
import type { Mesh } from "@svc/mesh";
import { offsiteBuilds as contracts } from "@svc/proto";
import { digestOf } from "./storage-stub.ts";

export type BuildsStub = {
  /** Adds an image of one layer to the registry. */
  addImage: (repository: string, tag: string, layer?: Buffer) => contracts.OffsiteImage;
  addContext: (bytes?: Buffer) => { id: string; sha256: string };
  images: Map<string, contracts.OffsiteImage>;
  /** What the whitelist names. */
  wanted: contracts.OffsiteImages["wanted"];
  /** Bytes of the registry and of contexts, by their digest. */
  bytes: Map<string, Buffer>;
  clear: () => void;
};

type Contexts = Map<string, { size_bytes: number; sha256: string }>;

export function serveBuilds(mesh: Mesh): BuildsStub {
  const bytes = new Map<string, Buffer>();
  const images = new Map<string, contracts.OffsiteImage>();
  const wanted: BuildsStub["wanted"] = [];
  const contexts: Contexts = new Map();
  serveImages(mesh, { bytes, images, wanted });
  serveContexts(mesh, { bytes, contexts });
  const keep = (content: Buffer) => {
    const digest = digestOf(content);
    bytes.set(digest, content);
    return { digest: `sha256:${digest}`, size_bytes: content.length };
  };
  return {
    ...{ bytes, images, wanted },
    addImage: (repository, tag, layer = randomBytes(50_000)) => {
      const blob = keep(layer);
      const manifest = keep(Buffer.from(JSON.stringify({ repository, blob })));
      const media_type = "application/vnd.oci.image.manifest.v1+json";
      const image = { repository, ...manifest, media_type, tags: [tag], blobs: [blob], parts: [] };
      images.set(`${repository}:${tag}`, image);
      return image;
    },
    addContext: (content = randomBytes(40_000)) => {
      const id = `sub-${randomBytes(12).toString("hex")}`;
      const { digest, size_bytes } = keep(content);
      contexts.set(id, { size_bytes, sha256: digest.slice(7) });
      return { id, sha256: digest.slice(7) };
    },
    clear: () => {
      for (const all of [bytes, images, contexts]) all.clear();
      wanted.length = 0;
    },
  };
}

function serveImages(mesh: Mesh, about: Pick<BuildsStub, "bytes" | "images" | "wanted">): void {
  const { bytes, images, wanted } = about;
  mesh.serve(contracts.readImages, (context) => {
    const list = { configured: true, images: [...images.values()], wanted };
    context.reply.byteTransfer = downloadOf(mesh, Buffer.from(JSON.stringify(list)));
    return null;
  });
  mesh.serve(contracts.readImagePart, (context, { digest }) => {
    const content = bytes.get(digest.slice(7));
    if (!content) throw context.fault("not_found");
    context.reply.byteTransfer = downloadOf(mesh, content);
    return null;
  });
  mesh.serve(contracts.writeImagePart, (context, { digest }) => {
    if (bytes.has(digest.slice(7))) return { in_place: true };
    context.reply.byteTransfer = uploadOf(mesh, bytes);
    return null;
  });
  mesh.serve(contracts.tagImage, (_context, { repository, digest, tags }) => {
    const named = (tag: string) => images.get(`${repository}:${tag}`);
    const kept = tags.filter((tag) => named(tag) !== undefined && named(tag)?.digest !== digest);
    return { tagged: tags.filter((tag) => !kept.includes(tag)), kept };
  });
}

function serveContexts(
  mesh: Mesh,
  { bytes, contexts }: Pick<BuildsStub, "bytes"> & { contexts: Contexts },
): void {
  mesh.serve(contracts.listContexts, () => ({
    items: [...contexts].map(([id, context]) => ({
      ...{ id, ...context },
      local: bytes.has(context.sha256) ? ("whole" as const) : ("missing" as const),
    })),
  }));
  mesh.serve(contracts.readContext, (context, { id }) => {
    const content = bytes.get(contexts.get(id)?.sha256 ?? "");
    if (!content) throw context.fault("not_found");
    context.reply.byteTransfer = downloadOf(mesh, content);
    return null;
  });
  mesh.serve(contracts.writeContext, (context) => {
    context.reply.byteTransfer = uploadOf(mesh, bytes);
    return null;
  });
}

function downloadOf(mesh: Mesh, content: Buffer) {
  return mesh.byteTransfers.download({
    headers: { "Content-Length": String(content.length) },
    source: async function* () {
      // A byte transfer frees what it has sent.
      yield Buffer.from(content);
    },
  });
}

function uploadOf(mesh: Mesh, bytes: Map<string, Buffer>) {
  return mesh.byteTransfers.upload({
    receive: async (body) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) chunks.push(Buffer.from(chunk));
      const content = Buffer.concat(chunks);
      bytes.set(digestOf(content), content);
      return null;
    },
  });
}
