// The file that carries the link for the first owner to the person who installs svc.

import { randomBytes } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";

/** Address of the page that redeems a setup token. */
export function setupLink(origin: string, token: string): string {
  return `${origin}/setup?token=${token}`;
}

/** Readable only by the user that runs the service, and written atomically. */
export function writeLinkFile(file: string, link: string): void {
  const partial = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    writeFileSync(partial, `${link}\n`, { mode: 0o600, flag: "wx" });
    renameSync(partial, file);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

/** Deletes a link that no longer works. */
export function removeLinkFile(file: string): void {
  if (file !== "") rmSync(file, { force: true });
}
