import type { Mesh } from "@svc/mesh";
import { updates } from "@svc/proto";
import type { WatchdogDb } from "../database.ts";
import { createReadReport } from "./report.ts";
import { createReadWindow, createWriteWindow } from "./window.ts";

export function serveUpdates(deps: {
  db: WatchdogDb;
  mesh: Pick<Mesh, "serve">;
  maxAgeMs: number;
  now: () => number;
}): void {
  const { db, mesh } = deps;
  mesh.serve(updates.readWindow, createReadWindow(db));
  mesh.serve(updates.writeWindow, createWriteWindow(db));
  mesh.serve(updates.readReport, createReadReport(deps));
}
