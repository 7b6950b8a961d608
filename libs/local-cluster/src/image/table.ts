import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import * as z from "zod";

/** What images built FROM an image of the table may bring along (docs/reference/images.md#bases). */
const baseSchema = z.object({
  /** The entry point that such an image must still have. */
  entrypoint: z.array(z.string()),
  /** Variables that it may set. The program runs without isolation: never one that a runtime or a linker reads. */
  env: z.array(z.string().regex(/^[A-Z][A-Z0-9_]*$/)),
  /** The folder whose files are copied into the volume that is mounted there, an absolute path. */
  data: z.string().regex(/^(\/[\w.-]+)+$/),
});
export type Base = z.infer<typeof baseSchema>;

const tableSchema = z.record(
  z.string(),
  z.object({
    command: z.array(z.string()).min(1),
    env: z.record(z.string(), z.string()).optional(),
    /** Where it starts in a container with files of its own. */
    workingDir: z.string().optional(),
    base: baseSchema.optional(),
  }),
);

/** Image reference → the program it stands for and the environment it brings. */
type ImageTable = z.infer<typeof tableSchema>;
export type TableImage = ImageTable[string];

export type FindInTable = (reference: string) => Promise<TableImage | undefined>;

/** Reads the table from a JSON file, again whenever the file changes. Throws when the table can't be read. */
export function openTable(file: string): FindInTable {
  let known: { stamp: string; table: ImageTable } | undefined;
  return async (reference) => {
    const stat = statSync(file);
    const stamp = `${stat.mtimeMs} ${stat.size} ${stat.ino}`;
    if (known?.stamp !== stamp) {
      known = { stamp, table: tableSchema.parse(JSON.parse(await readFile(file, "utf8"))) };
    }
    return Object.hasOwn(known.table, reference) ? known.table[reference] : undefined;
  };
}
