// The goals in the order in which they run: those of the fixture first, those of the whole stack after it.

import type { Goal } from "../harness/bench.ts";
import { accountQueries } from "./account-queries.ts";
import { builds } from "./builds.ts";
import { clusterChangeVisibility } from "./cluster-change-visibility.ts";
import { consoleFanOut } from "./console-fan-out.ts";
import { consoleLatency } from "./console-latency.ts";
import { databaseBundle } from "./database-bundle.ts";
import { deduplicatedBackups } from "./deduplicated-backups.ts";
import { eventDelivery } from "./event-delivery.ts";
import { fileBytes } from "./file-bytes.ts";
import { fleet } from "./fleet.ts";
import { fleetPage } from "./fleet-page.ts";
import { gatewayMemory } from "./gateway-memory.ts";
import { idleMemory } from "./idle-memory.ts";
import { idlePlayerMemory } from "./idle-player-memory.ts";
import { localConsole } from "./local-console.ts";
import { malformedInput } from "./malformed-input.ts";
import { offsitePacks } from "./offsite-packs.ts";
import { offsitePass } from "./offsite-pass.ts";
import { ownChange } from "./own-change.ts";
import { panel } from "./panel.ts";
import { phaseChangeThroughput } from "./phase-change-throughput.ts";
import { playerCount } from "./player-count.ts";
import { playerJoin } from "./player-join.ts";
import { proxyRelay } from "./proxy-relay.ts";
import { reaperRun } from "./reaper-run.ts";
import { reconcileThroughput } from "./reconcile-throughput.ts";
import { replicaLoss, zoneLoss } from "./replica-loss.ts";
import { requestLatency } from "./request-latency.ts";
import { requestThroughput } from "./request-throughput.ts";
import { scheduleTick } from "./schedule-tick.ts";
import { sealedCopies } from "./sealed-copies.ts";
import { serverList } from "./server-list.ts";
import { serverStatus } from "./server-status.ts";
import { serverWake } from "./server-wake.ts";
import { serviceBoot } from "./service-boot.ts";
import { sessionLists } from "./session-lists.ts";
import { stackStart } from "./stack-start.ts";
import { startStopLatency } from "./start-stop-latency.ts";
import { transfers } from "./transfers.ts";
import { viewersPerConsole } from "./viewers-per-console.ts";
import { worldArchives } from "./world-archives.ts";

export const goals: readonly Goal[] = [
  requestLatency,
  requestThroughput,
  serverList,
  sessionLists,
  fleetPage,
  ownChange,
  phaseChangeThroughput,
  eventDelivery,
  reconcileThroughput,
  playerCount,
  consoleLatency,
  consoleFanOut,
  viewersPerConsole,
  malformedInput,
  scheduleTick,
  accountQueries,
  reaperRun,
  proxyRelay,
  idlePlayerMemory,
  gatewayMemory,
  stackStart,
  idleMemory,
  serviceBoot,
  serverStatus,
  serverWake,
  playerJoin,
  clusterChangeVisibility,
  startStopLatency,
  localConsole,
  panel,
  fileBytes,
  fleet,
  builds,
  replicaLoss,
  zoneLoss,
  worldArchives,
  deduplicatedBackups,
  databaseBundle,
  sealedCopies,
  offsitePass,
  offsitePacks,
  transfers,
];
