import type { Kube } from "@svc/kube";
import { findHolder } from "@svc/world-lock";
import { namespaceOf, type Server } from "../cluster/resource.ts";
import type { Watched } from "../cluster/watched.ts";
import type { LifecycleSettings } from "../config.ts";
import { type ForwardingAccess, withForwardingKey } from "./forwarding.ts";
import { needsLastLine } from "./hang.ts";
import { readLastLineAt } from "./last-line.ts";
import { nodeStateOf } from "./node-state.ts";
import {
  isAtRest,
  needsForwarding,
  needsHolder,
  needsProbe,
  needsSecret,
  type Observed,
} from "./observed.ts";
import type { PassMemories } from "./pass-memory.ts";
import type { RconAccess } from "./rcon-access.ts";

export type ObserveDeps = {
  kube: Kube;
  watched: Watched;
  settings: LifecycleSettings;
  rcon: RconAccess;
  forwarding: ForwardingAccess;
  memories: PassMemories;
  now: () => number;
  signal: AbortSignal;
};

/** Reads everything once: first from the copies, then what this state requires to be read from elsewhere. */
export async function observe(deps: ObserveDeps, server: Server): Promise<Observed> {
  const { kube, watched, settings, rcon, now, memories, signal } = deps;
  const { name } = server.metadata;
  const pod = watched.pods.get(`${name}-0`);
  const cached: Observed = {
    server,
    status: server.status ?? {},
    statefulSet: watched.statefulSets.get(name),
    service: watched.services.get(name),
    headless: watched.services.get(`${name}-hl`),
    pod,
    node: nodeStateOf(server, pod, watched.nodes),
    holder: undefined,
    secret: { kind: "unread" },
    forwarding: { kind: "off" },
    probe: { kind: "none" },
    memory: memories.of(name),
    settings,
  };
  const lock = { now: now(), ttlMs: settings.maintenance_lock };
  const [holder, secret] = await Promise.all([
    needsHolder(cached) ? findHolder(kube, server, lock) : undefined,
    needsSecret(cached) ? rcon.readSecret(server, cached.status.phase === "Running") : cached.secret,
  ]);
  const read = withForwarding(deps, { ...cached, holder: holder?.kind, secret });
  if (!needsProbe(read, now())) return read;
  const probed = { ...read, probe: await rcon.probe(read, signal) };
  if (!needsLastLine(probed)) return probed;
  return {
    ...probed,
    lastLineAt: await readLastLineAt({ kube, namespace: namespaceOf(server) }, name, signal),
  };
}

function withForwarding({ forwarding }: ObserveDeps, observed: Observed): Observed {
  if (!needsForwarding(observed)) return observed;
  const { server, status } = observed;
  const state = forwarding.read({ server, status, isAtRest: isAtRest(observed) });
  return { ...observed, forwarding: state, status: withForwardingKey(status, state) };
}
