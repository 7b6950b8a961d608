// What the leader publishes: the view `servers`, and phase changes as rows and events.

import { createWorkQueue, type Informer } from "@svc/kube";
import type { Mesh, ViewWriter } from "@svc/mesh";
import { servers as contracts, type ServerInfo } from "@svc/proto";
import { createSemaphore } from "@svc/service/semaphore";
import type { Logger } from "@svc/telemetry";
import { conditionOf } from "../cluster/condition.ts";
import type { Server } from "../cluster/resource.ts";
import { adoptionOf } from "../server/adoption.ts";
import { type InfoSettings, toServerInfo } from "../server/info.ts";
import type { ServerStore } from "../server/store.ts";

type Deps = {
  mesh: Pick<Mesh, "writeView">;
  store: ServerStore;
  servers: Informer<Server>;
  settings: InfoSettings;
  log: Logger;
  /** Aborted when this replica no longer leads: it then hears of no more changes. */
  ending: AbortSignal;
};

type Projection = {
  changed: (name: string) => void;
  close: () => Promise<void>;
};

const viewWriters = 64;
/** Readers that wait for what is known now ask the replicas' copies instead when it takes longer to write. */
const writtenWithinMs = 500;
/** Phase changes written at the same time; the store batches them. */
const rowWriters = 256;
/** Servers created by hand that get their rows at the same time. */
const adoptions = 4;
const highestBackOffMs = 15_000;

/** Starts both. A lost NATS or database delays nothing else; what was missed is written later. */
export function startProjection(deps: Deps): Projection {
  const view = startView(deps);
  const rows = startRows(deps);
  return {
    changed: (name) => {
      view.add(name);
      rows.add(name);
    },
    close: async () => {
      await Promise.all([view.close(), rows.close()]);
    },
  };
}

// The whole view is one key of the same queue, so that it is retried until it has been written once.
const whole = "*";

function startView({ mesh, servers, settings, log, ending }: Deps) {
  let writer: ViewWriter<ServerInfo> | undefined;
  let isWhole = false;
  const queue = createWorkQueue({
    concurrency: viewWriters,
    highestBackOffMs,
    handle: async (key) => {
      if (key === whole) {
        writer ??= await mesh.writeView(contracts.servers, { isCurrent: servers.isLive, isWritten });
        const entries = new Map(
          servers.list().map((server) => [server.metadata.name, toServerInfo(server, settings)]),
        );
        await writer.replace(entries);
        isWhole = true;
        return undefined;
      }
      if (!writer) return undefined;
      const server = servers.get(key);
      if (server) await writer.put(key, toServerInfo(server, settings));
      else await writer.remove(key);
      return undefined;
    },
    onError: (key, error, retryMs) =>
      log.warn(
        { key, error: (error as Error).message, retry_ms: retryMs },
        "writing the view failed; retrying",
      ),
  });
  const isWritten = async () => (await queue.settled(writtenWithinMs)) && !ending.aborted;
  queue.add(whole);
  return {
    // A change before the first full copy has been written causes another full copy.
    add: (name: string) => queue.add(isWhole ? name : whole),
    close: async () => {
      await queue.close();
      await writer?.close();
    },
  };
}

function startRows({ store, servers, log }: Deps) {
  let known: Map<string, string | null> | undefined;
  const adopting = createSemaphore(adoptions);
  let loading: Promise<Map<string, string | null>> | undefined;
  // Read once for all callers; the next one retries a failed read.
  const load = async () => {
    loading ??= store.phases().finally(() => {
      loading = undefined;
    });
    known ??= await loading;
    return known;
  };
  const queue = createWorkQueue({
    concurrency: rowWriters,
    highestBackOffMs,
    handle: async (name) => {
      const phases = known ?? (await load());
      const server = servers.get(name);
      const to = server?.status?.phase;
      if (!server) phases.delete(name);
      if (!server || to === undefined || phases.get(name) === to) return undefined;
      if (!phases.has(name)) {
        await adopting.run(async () => {
          await store.adopt(adoptionOf(server, Date.now()));
          phases.set(name, (await store.phaseOf(name)) ?? null);
        });
      }
      const reason = conditionOf(server.status?.conditions, "Ready")?.reason ?? to;
      const change = { name, known: phases.get(name) ?? null, to, reason, at: new Date() };
      if (change.known === to) return undefined;
      if (await store.changePhase(change)) phases.set(name, to);
      else {
        phases.delete(name);
        return 0;
      }
      return undefined;
    },
    onError: (name, error, retryMs) =>
      log.warn(
        { name, error: (error as Error).message, retry_ms: retryMs },
        "recording a phase failed; retrying",
      ),
  });
  return queue;
}
