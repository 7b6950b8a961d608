// Names this installation to others that use the same bucket. The id is in no bundle: a restored copy of an installation
// must not be taken for the one that it was copied from.

import { randomBytes } from "node:crypto";
import { link, mkdir, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";

const shape = /^[0-9a-f]{32}$/;

/** Makes the id on the first call; the file is whole or not there. */
export async function readHostId(stateDir: string): Promise<string> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  const path = join(stateDir, "host-id");
  return (await find(path)) ?? create(path);
}

async function find(path: string): Promise<string | undefined> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (text === undefined) return undefined;
  const id = text.trim();
  if (!shape.test(id)) throw new Error(`${path} is damaged: it must have 32 hexadecimal digits`);
  return id;
}

async function create(path: string): Promise<string> {
  const id = randomBytes(16).toString("hex");
  const partial = `${path}.${id}.partial`;
  try {
    await using file = await open(partial, "wx", 0o600);
    await file.writeFile(`${id}\n`);
    await file.sync();
    await link(partial, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(partial, { force: true });
  }
  return (await find(path)) ?? id;
}
