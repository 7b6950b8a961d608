// Images of the registry that were pulled: `<dir>/<digest of the manifest>/{image.json,files/}`. A folder gets that name
// when it is whole, so whatever is there can be used; what a killed pull leaves is removed at the next start.

import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { removeTree } from "../remove-tree.ts";
import { ImageConfig } from "./pulled.ts";

const partialPrefix = ".partial-";
const nameShape = /^[0-9a-f]{64}$/;

const storedSchema = z.object({ config: ImageConfig, bytes: z.int() });
/** An image without its files; `bytes` are those of the files. */
export type StoredImage = z.infer<typeof storedSchema>;

export type ImageStore = {
  /** Undefined when the image was not pulled or was evicted. */
  find(digest: string): Promise<StoredImage | undefined>;
  /** Stores what `fetch` puts below `<folder>/files`, whole or not at all. */
  add(digest: string, fetch: (folder: string) => Promise<StoredImage>): Promise<StoredImage>;
  /** Runs `use` with the folder of the files, which stay meanwhile. Throws when the image is not stored. */
  use<Value>(digest: string, use: (files: string) => Promise<Value>): Promise<Value>;
};

/** Keeps `mostBytes` of files: those of images that were used last, and of all that are being used. */
export async function openImageStore(dir: string, mostBytes: number): Promise<ImageStore> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  for (const name of await readdir(dir)) {
    if (name.startsWith(partialPrefix)) await removeTree(join(dir, name));
  }
  const users = new Map<string, number>();
  const folderOf = (digest: string) => join(dir, nameOf(digest));
  const find = async (digest: string) => {
    const text = await readFile(join(folderOf(digest), "image.json"), "utf8").catch(() => undefined);
    return text === undefined ? undefined : storedSchema.parse(JSON.parse(text));
  };
  const newPartial = () => join(dir, `${partialPrefix}${randomBytes(8).toString("hex")}`);
  return {
    find,
    add: async (digest, fetch) => {
      const partial = newPartial();
      try {
        await mkdir(partial, { mode: 0o700 });
        const image = await fetch(partial);
        await writeFile(join(partial, "image.json"), JSON.stringify(image), { mode: 0o600, flush: true });
        await removeTree(folderOf(digest));
        await rename(partial, folderOf(digest));
        await evict({ dir, users, keep: nameOf(digest), mostBytes });
        return image;
      } finally {
        await removeTree(partial);
      }
    },
    use: async (digest, use) => {
      const name = nameOf(digest);
      users.set(name, (users.get(name) ?? 0) + 1);
      try {
        const now = new Date();
        await utimes(join(dir, name, "image.json"), now, now);
        return await use(join(dir, name, "files"));
      } finally {
        const left = (users.get(name) ?? 1) - 1;
        if (left === 0) users.delete(name);
        else users.set(name, left);
      }
    },
  };
}

function nameOf(digest: string): string {
  const name = digest.replace(/^sha256:/, "");
  if (!nameShape.test(name)) throw new Error(`${digest} is not a digest`);
  return name;
}

type Eviction = { dir: string; users: ReadonlyMap<string, number>; keep: string; mostBytes: number };

async function evict({ dir, users, keep, mostBytes }: Eviction): Promise<void> {
  const names = (await readdir(dir)).filter((name) => nameShape.test(name));
  const images = await Promise.all(
    names.map(async (name) => {
      const file = join(dir, name, "image.json");
      const { bytes } = storedSchema.parse(JSON.parse(await readFile(file, "utf8")));
      return { name, bytes, usedAtMs: (await stat(file)).mtimeMs };
    }),
  );
  let total = images.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { name, bytes } of images.sort((a, b) => a.usedAtMs - b.usedAtMs)) {
    if (total <= mostBytes) return;
    if (name === keep || users.has(name)) continue;
    total -= bytes;
    const partial = join(dir, `${partialPrefix}${randomBytes(8).toString("hex")}`);
    await rename(join(dir, name), partial);
    await removeTree(partial);
  }
}
