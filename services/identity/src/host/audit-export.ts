import { open, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { searchEntries } from "../audit/search.ts";
import type { Host } from "./context.ts";

const pageSize = 1_000;
const openFaults: Record<string, (file: string) => string> = {
  EEXIST: (file) => `${file} already exists; name a new file`,
  ENOENT: (file) => `the folder ${dirname(file)} does not exist; create it first`,
  EACCES: (file) => `${file} cannot be created by this user; choose another path`,
};

/** Writes the audit log of a span as JSON lines, newest first, to a new file that only its owner may read. */
export async function exportAudit(
  { db }: Host,
  about: { since?: string | undefined; until?: string | undefined; out: string },
): Promise<{ entries: number; file: string }> {
  const file = await open(about.out, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new Error(openFaults[error.code ?? ""]?.(about.out) ?? error.message);
  });
  let entries = 0;
  try {
    let cursor: string | undefined;
    do {
      const { since, until } = about;
      const page = await searchEntries(db, { since, until, cursor, limit: pageSize });
      if (page === "bad_cursor") throw new Error("the audit log changed during the export; try again");
      await file.appendFile(page.entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
      entries += page.entries.length;
      cursor = page.next;
    } while (cursor !== undefined);
    await file.sync();
  } catch (error) {
    // A part of the log would pass for the whole of it.
    await unlink(about.out).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
  return { entries, file: about.out };
}
