import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import * as z from "zod";

const tableSchema = z.record(
  z.string(),
  z.object({ command: z.array(z.string()).min(1), env: z.record(z.string(), z.string()).optional() }),
);

/** Image reference → the program it stands for and the environment it brings. */
type ImageTable = z.infer<typeof tableSchema>;
export type Image = ImageTable[string];

export type Images = {
  /** The entry of an image; undefined when the table lacks it. Throws when the table can't be read. */
  find(reference: string): Promise<Image | undefined>;
};

/** Reads the table from a JSON file, again whenever the file changes. */
export function readImages(file: string): Images {
  let known: { stamp: string; table: ImageTable } | undefined;
  return {
    find: async (reference) => {
      const stat = statSync(file);
      const stamp = `${stat.mtimeMs} ${stat.size} ${stat.ino}`;
      if (known?.stamp !== stamp) {
        known = { stamp, table: tableSchema.parse(JSON.parse(await readFile(file, "utf8"))) };
      }
      return known.table[reference];
    },
  };
}
