// Images that tests push to a registry.

import { Readable } from "node:stream";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { digestOf, mediaTypes, openRegistry } from "@svc/registry";
import { type MadeTar, makeTar } from "@svc/world/testing";

export type MadeImage = {
  /** From the bottom up. */
  layers?: MadeTar[][];
  config?: object;
  packing?: "none" | "gzip" | "zstd";
  /** Instead of the real ones. */
  diffIds?: string[];
};

export const file = (path: string, content = path): MadeTar => ({ path, content });

/** Pushes an image as tag `1` and returns its digest. */
export async function pushImage(host: string, path: string, made: MadeImage): Promise<string> {
  const { layers = [], config = {}, packing = "gzip", diffIds } = made;
  const registry = openRegistry({ host, plainHttp: true });
  const put = async (bytes: Buffer) => {
    const blob = { digest: digestOf(bytes), size: bytes.length };
    await registry.putBlob(path, { ...blob, open: () => Readable.from([bytes]) });
    return blob;
  };
  const tars = layers.map((entries) => makeTar(entries));
  const pack = { none: (tar: Buffer) => tar, gzip: gzipSync, zstd: zstdCompressSync }[packing];
  const mediaType = packing === "none" ? mediaTypes.layer : `${mediaTypes.layer}+${packing}`;
  const stored = [];
  for (const tar of tars) stored.push({ mediaType, ...(await put(Buffer.from(pack(tar)))) });
  const rootfs = { type: "layers", diff_ids: diffIds ?? tars.map(digestOf) };
  const about = await put(
    Buffer.from(JSON.stringify({ architecture: "amd64", os: "linux", config, rootfs })),
  );
  const manifest = {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: { mediaType: mediaTypes.config, ...about },
    layers: stored,
  };
  const bytes = Buffer.from(JSON.stringify(manifest));
  return registry.putManifest(path, "1", { mediaType: mediaTypes.manifest, bytes });
}
