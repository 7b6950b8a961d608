// The base images that this machine's registry offers. What a container of one runs is a program of the embedded
// cluster's image table; the image itself says which.

import { Readable } from "node:stream";
import { baseImages } from "@svc/proto";
import { digestOf, mediaTypes, openRegistry, type Registry } from "@svc/registry";

const retryForMs = 20_000;

type Target = {
  host: string;
  password: string;
  /** Gives up waiting for the registry. */
  signal?: AbortSignal;
};

/** Publishes the demo server of each version as a base image, unless the registry has it as it is. */
export async function publishBaseImages({ host, password, signal }: Target): Promise<void> {
  const credential = { user: "platform", password };
  const registry = openRegistry({ host, plainHttp: true, credential, retryForMs });
  for (const image of baseImages.demoServerImages) await publish(registry, image, signal);
}

type Base = (typeof baseImages.demoServerImages)[number];

async function publish(registry: Registry, { repository, tag, config }: Base, signal?: AbortSignal) {
  const { blobs, manifest } = createImage(config);
  const found = await registry.headManifest(repository, tag, signal);
  if (found?.digest === digestOf(manifest)) return;
  for (const bytes of blobs) {
    const open = () => Readable.from([bytes]);
    await registry.putBlob(repository, { digest: digestOf(bytes), size: bytes.length, open }, signal);
  }
  await registry.putManifest(repository, tag, { mediaType: mediaTypes.manifest, bytes: manifest, signal });
}

/** An image of one layer with an empty folder; the same bytes each time. */
function createImage(config: object): { blobs: Buffer[]; manifest: Buffer } {
  const layer = emptyFolder("data/");
  const image = json({
    architecture: "amd64",
    os: "linux",
    created: "1970-01-01T00:00:00Z",
    config,
    rootfs: { type: "layers", diff_ids: [digestOf(layer)] },
  });
  const describe = (mediaType: string, bytes: Buffer) => ({
    mediaType,
    digest: digestOf(bytes),
    size: bytes.length,
  });
  const manifest = json({
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: describe(mediaTypes.config, image),
    layers: [describe(mediaTypes.layer, layer)],
  });
  return { blobs: [image, layer], manifest };
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

/** A tar archive with one folder of root, mode 0755. */
function emptyFolder(name: string): Buffer {
  const archive = Buffer.alloc(512 * 3);
  const zero = "0".repeat(7);
  const fields: [number, string][] = [
    [0, name],
    [100, "0000755"],
    [108, zero],
    [116, zero],
    [124, "0".repeat(11)],
    [136, "0".repeat(11)],
    [148, " ".repeat(8)],
    [156, "5"],
    [257, "ustar"],
    [263, "00"],
  ];
  for (const [offset, text] of fields) archive.write(text, offset, "latin1");
  const sum = archive.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  archive.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return archive;
}
