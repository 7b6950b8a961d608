import type { Mesh } from "@svc/mesh";
import { knownPlayers as contracts } from "@svc/proto";
import { startLoop } from "@svc/service/loop";
import { Counter, type Logger, type Registry } from "@svc/telemetry";
import type { ServerRcon } from "../console/rcon.ts";
import type { LifecycleStore } from "../database/schema.ts";
import { createPlayerStore } from "../player/store.ts";
import type { ServerDeps } from "../server/deps.ts";
import { changeAccess, readAccess } from "./access.ts";
import { addNote, list, read, removeNote } from "./operations.ts";
import { eraseData, readData } from "./own-data.ts";
import { createReach } from "./reach.ts";
import { createKnownPlayerStore } from "./store.ts";
import { createVisitStore } from "./visit-store.ts";

type KnownPlayerNeeds = {
  mesh: Pick<Mesh, "serve">;
  deps: ServerDeps;
  database: LifecycleStore;
  registry: Registry;
  log: Logger;
  /** Shared with consoles: all commands for one server wait in one queue. */
  rcon: Pick<ServerRcon, "run" | "query">;
};

/** Serves the operations, and forgets players whose time has come, until closed; every replica does both. */
export function startKnownPlayers(needs: KnownPlayerNeeds): { close: () => Promise<void> } {
  const { mesh, deps, database, registry, log, rcon } = needs;
  const { player_keep: keepMs, players_per_server: mostPlayers, player_sweep: everyMs } = deps.settings;
  const visits = createVisitStore(database);
  const metrics = createMetrics(registry);
  const all = {
    ...{ ...deps, rcon, known: createKnownPlayerStore(database) },
    ...{ online: createPlayerStore(database), reach: createReach(database) },
  };
  mesh.serve(contracts.reportVisits, async (_context, { proxy, visits: reported }) => {
    const counted = await visits.count(proxy, reported);
    metrics.visits.inc({ result: "counted" }, counted);
    metrics.visits.inc({ result: "unchanged" }, reported.length - counted);
    return null;
  });
  mesh.serve(contracts.list, list(all));
  mesh.serve(contracts.read, read(all));
  mesh.serve(contracts.readAccess, readAccess(all));
  mesh.serve(contracts.changeAccess, changeAccess(all));
  mesh.serve(contracts.addNote, addNote(all));
  mesh.serve(contracts.removeNote, removeNote(all));
  mesh.serve(contracts.readData, readData(database, keepMs));
  mesh.serve(contracts.eraseData, eraseData(database));
  return startLoop(async () => metrics.forgotten.inc(await visits.sweep({ keepMs, mostPlayers })), {
    everyMs,
    onError: (error) =>
      log.warn({ error: error.message }, "forgetting players failed; retrying with the next sweep"),
  });
}

function createMetrics(registry: Registry) {
  const registers = [registry];
  return {
    visits: new Counter({
      name: "svc_player_visits_reported_total",
      help: "Visits in reports of proxies, by whether they changed what is known.",
      labelNames: ["result"] as const,
      registers,
    }),
    forgotten: new Counter({
      name: "svc_players_forgotten_total",
      help: "Players of servers that were forgotten because of their age or number.",
      registers,
    }),
  };
}
