import type { Handler } from "@svc/mesh";
import type { scans } from "@svc/proto";
import type { BuildDeps } from "../build/deps.ts";
import { findBuild } from "../build/store.ts";
import { findScan } from "./store.ts";

/** builds.scan.read */
export function createReadScan({ db }: Pick<BuildDeps, "db">): Handler<typeof scans.readScan> {
  return async (context, { id }) => {
    const scan = await findScan(db, id);
    if (scan) return scan;
    if (await findBuild(db, id)) throw context.fault("scan_not_found");
    throw context.fault("not_found", { message: "There is no build with this id." });
  };
}
