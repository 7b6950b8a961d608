// The earlier versions of a text file (docs/reference/files.md#history).

import type { Handler, Mesh } from "@svc/mesh";
import { fileVersions as contracts, Fault, type Principal } from "@svc/proto";
import { isStaff } from "../access.ts";
import type { FileVersionRow } from "../database/tables.ts";
import type { WorldServer } from "../job/world.ts";
import type { FileDeps } from "./deps.ts";
import { openWorld } from "./open-world.ts";
import { readTarget } from "./path.ts";
import { findVersion, listVersions } from "./version-store.ts";

type VersionDeps = Pick<FileDeps, "mesh" | "db">;

export function serveVersions(mesh: Pick<Mesh, "serve">, deps: VersionDeps): void {
  mesh.serve(contracts.list, list(deps));
  mesh.serve(contracts.read, read(deps));
}

const list =
  (deps: VersionDeps): Handler<typeof contracts.list> =>
  async ({ principal }, { name, path: given }) => {
    const path = readTarget(given);
    const world = await openWorld(deps, { principal, server: name, to: contracts.list, reads: [path] });
    const rows = await listVersions(deps.db, { server: name, path, since: sinceOf(principal, world) });
    return { path, versions: rows.map((row) => toVersion(row, principal)) };
  };

const read =
  (deps: VersionDeps): Handler<typeof contracts.read> =>
  async ({ principal }, { name, id, path: given }) => {
    const path = readTarget(given);
    const world = await openWorld(deps, { principal, server: name, to: contracts.read, reads: [path] });
    const row = await findVersion(deps.db, { server: name, path, id, since: sinceOf(principal, world) });
    if (!row) {
      throw new Fault("not_found", { message: `There is no such version of ${path}; list its history.` });
    }
    return { path, ...toVersion(row, principal), content: row.content.toString("base64") };
  };

// The next owner must not see what a former one wrote.
function sinceOf(principal: Principal, { claimed_at }: WorldServer): Date | undefined {
  if (isStaff(principal) || claimed_at === undefined) return undefined;
  return new Date(claimed_at);
}

/** The only mapping from a row to the public view. */
function toVersion(row: Omit<FileVersionRow, "content">, reader: Principal): contracts.FileVersion {
  const isOwn = reader.kind === "account" && row.replaced_by === reader.username;
  return {
    id: row.id,
    sha256: row.sha256,
    size: row.size_bytes,
    replaced_at: row.replaced_at.toISOString(),
    by: isOwn ? "you" : "other",
  };
}
