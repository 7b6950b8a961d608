import type { Handler, Mesh } from "@svc/mesh";
import { offsiteArchives as contracts } from "@svc/proto";
import type { SharedDeps } from "../transfer/deps.ts";
import { listArchives } from "./list.ts";
import { readArchive } from "./read.ts";
import { readChunks } from "./read-chunks.ts";
import * as store from "./store.ts";
import { writeArchive } from "./write.ts";

type Deps = Pick<SharedDeps, "db" | "settings" | "now" | "byteTransfers">;

const recordCopies =
  ({ db }: Deps): Handler<typeof contracts.recordCopies> =>
  async (_context, { copies }) => ({ recorded: await store.recordCopies(db, copies) });

const confirmCopies =
  ({ db }: Deps): Handler<typeof contracts.confirmCopies> =>
  async (_context, { listed_at }) => {
    await store.confirmCopies(db, new Date(listed_at));
    return null;
  };

/** Answers what ops-watchdog asks to keep off-site copies. */
export function serveOffsite(mesh: Pick<Mesh, "serve">, deps: Deps): void {
  mesh.serve(contracts.listArchives, listArchives(deps));
  mesh.serve(contracts.readArchive, readArchive(deps));
  mesh.serve(contracts.readChunks, readChunks(deps));
  mesh.serve(contracts.writeArchive, writeArchive(deps));
  mesh.serve(contracts.recordCopies, recordCopies(deps));
  mesh.serve(contracts.confirmCopies, confirmCopies(deps));
}
