// The consoles that this replica follows. One replica follows a server while somebody watches it, wherever the viewers
// are: its row is a lease, taken by compare-and-set and renewed every second; when it expires another replica takes over.

import { setTimeout as delay } from "node:timers/promises";
import { createWake, type Wake } from "@svc/store/wake";
import type { Logger, Registry } from "@svc/telemetry";
import type { LifecycleStore } from "../database/schema.ts";
import type { ServerDeps } from "../server/deps.ts";
import { type Follower, type FollowerDeps, startFollower } from "./follower.ts";
import { createConsoleMetrics } from "./metrics.ts";
import { type ConsoleStore, createConsoleStore } from "./store.ts";

export type Followers = {
  /**
   * Ensures that one replica follows for the next minutes. Resolves when the last lines can be read. Throws `unavailable`
   * when the log cannot be reached.
   */
  ensureFollowed: (server: string) => Promise<void>;
  close: () => Promise<void>;
};

/** How long a new viewer may wait for the last lines of a log. */
const backlogMs = 2_000;
/** Consoles that one replica takes over in one round, so that several replicas share those of a dead one. */
const takenAtOnce = 50;

/** What following needs of the replica that does it. */
export type FollowersDeps = {
  mesh: FollowerDeps["mesh"];
  deps: Pick<ServerDeps, "kube" | "namespace" | "servers" | "settings">;
  database: LifecycleStore;
  registry: Registry;
  log: Logger;
  /** Name of this replica. */
  replica: string;
};

export function startFollowers(needs: FollowersDeps): Followers {
  const { deps, replica, log } = needs;
  const { settings } = deps;
  const store = createConsoleStore(needs.database);
  const following = new Map<string, Follower>();
  const begun = createWake();
  const metrics = createConsoleMetrics(needs.registry, () => following.size);
  const about: FollowerDeps = {
    kube: deps.kube,
    mesh: needs.mesh,
    settings,
    namespace: deps.namespace,
    known: (name) => deps.servers.get(name),
    isMine: async (name) => (await store.renew([name], replica, settings.console_lease)).length > 0,
    metrics,
    log,
  };

  const begin = (name: string): Follower => {
    const known = following.get(name);
    if (known) return known;
    const follower = startFollower(about, name);
    following.set(name, follower);
    begun.ring();
    void follower.ended
      .then(async (end) => {
        if (following.get(name) === follower) following.delete(name);
        if (end === "stopped") await store.finish(name, replica);
      })
      .catch((error: unknown) =>
        log.warn({ server: name, err: error }, "recording the end of a console failed"),
      );
    return follower;
  };
  const end = (name: string) => {
    following.get(name)?.stop();
    following.delete(name);
  };
  const wanting = new Map<string, Promise<boolean>>();
  // Viewers that arrive together share one query.
  const ask = (name: string): Promise<boolean> => {
    const spans = { leaseMs: settings.console_lease, lingerMs: settings.console_linger };
    const asked = wanting.get(name) ?? store.want(name, replica, spans);
    wanting.set(name, asked);
    asked.finally(() => wanting.delete(name)).catch(() => {});
    return asked;
  };
  const closing = new AbortController();
  const running = renewForever({ about, store, replica, following, begun, begin, end }, closing.signal);
  return {
    ensureFollowed: async (name) => {
      if (await ask(name)) await within(begin(name).started, backlogMs);
    },
    close: async () => {
      closing.abort();
      begun.ring();
      await running;
      const names = [...following.keys()];
      const ends = [...following.values()].map((follower) => follower.ended);
      for (const name of names) end(name);
      await Promise.allSettled(ends);
      await store.release(names, replica).catch(() => {});
    },
  };
}

type Renewing = {
  about: FollowerDeps;
  store: ConsoleStore;
  replica: string;
  following: Map<string, Follower>;
  /** Rings when there is something to renew again. */
  begun: Wake;
  begin: (name: string) => Follower;
  end: (name: string) => void;
};

async function renewForever(renewing: Renewing, signal: AbortSignal): Promise<void> {
  const { log, settings } = renewing.about;
  const takeOver = createTakeOver(renewing);
  while (!signal.aborted) {
    // No lease that could be taken over ends sooner than one that is taken from now on.
    if (renewing.following.size === 0) await renewing.begun.next(takeOver.restMs());
    await delay(settings.console_renew, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    // Without the database this replica continues: nobody else can have taken over.
    await renew(renewing)
      .then(takeOver.run)
      .catch((error: unknown) =>
        log.warn({ error: (error as Error).message }, "renewing console leases failed; retrying"),
      );
  }
}

async function renew({ about, store, replica, following, end }: Renewing): Promise<void> {
  const lease = about.settings.console_lease;
  const names = [...following.keys()];
  if (names.length > 0) {
    const kept = new Set(await store.renew(names, replica, lease));
    const lost = names.filter((name) => !kept.has(name));
    for (const name of lost) end(name);
    if (lost.length > 0) await store.release(lost, replica);
    for (const follower of following.values()) follower.check();
  }
}

/** While nobody watches anything, no lease can expire before one that is taken from now on does. */
function createTakeOver({ about, store, replica, begin }: Renewing) {
  const lease = about.settings.console_lease;
  let restUntil = 0;
  return {
    restMs: () => Math.max(0, restUntil - performance.now()),
    run: async () => {
      const startedAt = performance.now();
      if (startedAt < restUntil) return;
      for (const name of await store.takeOver(replica, lease, takenAtOnce)) begin(name);
      if (!(await store.isAnyWanted())) restUntil = startedAt + lease;
    },
  };
}

async function within(work: Promise<void>, ms: number): Promise<void> {
  const limit = new AbortController();
  const timeUp = delay(ms, undefined, { signal: limit.signal }).catch(() => {});
  try {
    await Promise.race([work, timeUp]);
  } finally {
    limit.abort();
  }
}
