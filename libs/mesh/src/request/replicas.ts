// The live replicas of each owner that this process calls, from their own heartbeats (ADR 0014).

import { type Owner, replicaSubject } from "@svc/proto";
import { encodeHeaders } from "../connection/headers.ts";
import type { Listening } from "../connection/nats-connection.ts";
import type { Core } from "../core.ts";
import { textOf } from "../json.ts";
import { fitsFilter, isPublished, publisherHeaders } from "../stream/publisher.ts";

/** How often a replica announces itself; one that has heard no other for a while has no choice to offer and saves most of it. */
export const beatMs = 250;
const aloneBeats = 20;
const defaultAloneAfterMs = 10_000;
/** A replica that was silent for this long gets no requests until it is heard again. */
export const quietMs = 1_000;

const quietBeats = quietMs / beatMs;
const forgottenBeats = 40;
type State = "serving" | "alone" | "leaving";

export type Replicas = {
  /** The instance whose turn it is, among those that are heard; undefined when none is, and the queue group chooses. */
  pick: (owner: Owner, tried: ReadonlySet<string>) => string | undefined;
  hasOther: (owner: Owner, tried: ReadonlySet<string>) => boolean;
  /** Sends an instance no requests until it is heard again. */
  leaveOut: (owner: Owner, instance: string) => void;
  close: () => void;
};

/** `beats` counts the intervals since each replica was last heard. */
type Table = { beats: Map<string, number>; turn: number; listening: Listening };

/** Listens to the replicas of an owner from the first request to it. */
export function createReplicas(core: Core): Replicas {
  const tables = new Map<Owner, Table>();
  let counting: NodeJS.Timeout | undefined;
  // Counts intervals, not milliseconds: while this process itself is stopped, others must not seem silent. Where no owner
  // has two replicas there is nothing to choose and nothing to count: a request shows whether the only one is there.
  const count = () => {
    if (counting !== undefined || ![...tables.values()].some(({ beats }) => beats.size > 1)) return;
    counting = setTimeout(() => {
      counting = undefined;
      for (const { beats } of tables.values()) countBeats(beats);
      count();
    }, beatMs).unref();
  };
  // Replicas from before the connection was lost may be gone.
  const stopWatching = core.connection.onReconnect(() => {
    for (const { beats } of tables.values()) beats.clear();
  });

  const open = (owner: Owner): Table => {
    const beats = new Map<string, number>();
    const filter = replicaSubject(owner, "*");
    const listening = core.connection.subscribe(filter, ({ subject, data, headers }) => {
      // An answer of NATS that somebody directed here must not count as a replica.
      if (!isPublished(headers, "delivered") || !fitsFilter(filter, subject)) return;
      const instance = subject.slice(subject.lastIndexOf(".") + 1);
      const state = textOf(data);
      if (state === "leaving") return void beats.delete(instance);
      const isNew = !beats.has(instance);
      beats.set(instance, state === "alone" ? 1 - aloneBeats : 0);
      if (isNew) count();
    });
    const table = { beats, turn: 0, listening };
    tables.set(owner, table);
    return table;
  };
  const heard = ({ beats }: Table, tried: ReadonlySet<string>): string[] =>
    [...beats].flatMap(([instance, count]) => (count < quietBeats && !tried.has(instance) ? [instance] : []));
  const tableOf = (owner: Owner): Table => tables.get(owner) ?? open(owner);

  return {
    pick: (owner, tried) => {
      const table = tableOf(owner);
      const choice = heard(table, tried);
      return choice[table.turn++ % choice.length];
    },
    hasOther: (owner, tried) => heard(tableOf(owner), tried).length > 0,
    leaveOut: (owner, instance) => {
      const { beats } = tableOf(owner);
      if (beats.has(instance)) beats.set(instance, quietBeats);
    },
    close: () => {
      clearTimeout(counting);
      stopWatching();
      for (const { listening } of tables.values()) listening.unsubscribe();
    },
  };
}

function countBeats(beats: Map<string, number>): void {
  for (const [instance, count] of beats) {
    if (count >= forgottenBeats) beats.delete(instance);
    else beats.set(instance, count + 1);
  }
}

/**
 * Announces this replica every 250 ms, or every five seconds as long as it hears no other of its owner. Returns a
 * function that announces that it is leaving.
 */
export function announceReplica(core: Core, aloneAfterMs = defaultAloneAfterMs): () => void {
  const subject = replicaSubject(core.service, core.instance);
  const headers = encodeHeaders(publisherHeaders(core));
  // Callers and other replicas learn of a new one at once.
  let heardAt = performance.now();
  let beating: NodeJS.Timeout | undefined;
  const announce = (state: State) => {
    core.connection.tryPublish(subject, Buffer.from(state), headers);
  };
  const isAlone = () => performance.now() - heardAt > aloneAfterMs;
  const beat = () => {
    const state = isAlone() ? "alone" : "serving";
    announce(state);
    beating = setTimeout(beat, state === "alone" ? aloneBeats * beatMs : beatMs).unref();
  };
  const filter = replicaSubject(core.service, "*");
  const listening = core.connection.subscribe(filter, (message) => {
    if (message.subject === subject || !isPublished(message.headers, "delivered")) return;
    const wasAlone = isAlone();
    heardAt = performance.now();
    if (!wasAlone) return;
    clearTimeout(beating);
    beat();
  });
  beat();
  return () => {
    clearTimeout(beating);
    listening.unsubscribe();
    announce("leaving");
  };
}
