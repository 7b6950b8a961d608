// Every condition that the watchdog checks, in the order of the documentation (docs/reference/alerts.md#conditions).

import type { StateFile } from "../state-file.ts";
import { auditWrites } from "./audit.ts";
import { bundles } from "./bundles.ts";
import { cluster, gameServers, nodes } from "./cluster.ts";
import { clock, postgresql, rehearsals, updateReport } from "./database.ts";
import { disks, memory } from "./machine.ts";
import { nats, services } from "./mesh.ts";
import { certificates, gamePort, mailRelay } from "./network.ts";
import { offsite } from "./offsite.ts";
import { builds, identity, storage } from "./owners.ts";
import type { Probe } from "./probe.ts";
import { watchdogState } from "./watchdog-state.ts";
import { webhooks } from "./webhooks.ts";

export function allProbes(file: StateFile): Probe[] {
  return [
    ...[services, nats, postgresql, cluster, nodes, gameServers, gamePort, mailRelay, certificates],
    ...[storage, builds, identity, auditWrites, bundles, rehearsals, offsite, updateReport, webhooks],
    ...[disks, memory, clock, watchdogState(file)],
  ];
}
