import { open } from "node:fs/promises";

/** Bytes of a file; throws when it is missing or larger. */
export async function readBounded(path: string, most: number): Promise<Buffer> {
  await using file = await open(path, "r");
  const { size } = await file.stat();
  if (size > most) throw new Error(`it has ${size} bytes, more than ${most}`);
  return await file.readFile();
}
