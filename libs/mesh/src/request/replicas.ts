// The replicas of each owner that this process asks, by what they say of themselves (ADR 0014).

import { type Owner, replicaSubject } from "@svc/proto";
import { encodeHeaders } from "../connection/headers.ts";
import type { Listening } from "../connection/nats-connection.ts";
import type { Core } from "../core.ts";
import { textOf } from "../json.ts";
import { fitsFilter, isPublished, publisherHeaders } from "../stream/publisher.ts";

/** How often a replica says that it is there. */
export const beatMs = 250;
/** A replica that was not heard for this long is left out until it is heard again. */
export const quietMs = 1_000;

const quietBeats = quietMs / beatMs;
const forgottenBeats = 40;
const leaving = "leaving";

export type Replicas = {
  /** The instance whose turn it is, among those that are heard; undefined when none is: then the queue group chooses. */
  pick: (owner: Owner, tried: ReadonlySet<string>) => string | undefined;
  hasOther: (owner: Owner, tried: ReadonlySet<string>) => boolean;
  /** Leaves an instance out until it is heard again. */
  leaveOut: (owner: Owner, instance: string) => void;
  close: () => void;
};

/** `beats` counts the spans since the replica was last heard. */
type Table = { beats: Map<string, number>; turn: number; listening: Listening };

/** Listens to the replicas of an owner from the first request to it on. */
export function createReplicas(core: Core): Replicas {
  const tables = new Map<Owner, Table>();
  // Spans of this process are counted, not milliseconds: while it stands still itself, nobody is silent.
  const counting = setInterval(() => {
    for (const { beats } of tables.values()) countBeat(beats);
  }, beatMs);
  counting.unref();
  // Who was there before NATS went away may be gone.
  const stopWatching = core.connection.onReconnect(() => {
    for (const { beats } of tables.values()) beats.clear();
  });

  const open = (owner: Owner): Table => {
    const beats = new Map<string, number>();
    const filter = replicaSubject(owner, "*");
    const listening = core.connection.subscribe(filter, ({ subject, data, headers }) => {
      // What NATS answers somebody else would be a replica that nobody serves.
      if (!isPublished(headers, "delivered") || !fitsFilter(filter, subject)) return;
      const instance = subject.slice(subject.lastIndexOf(".") + 1);
      if (textOf(data) === leaving) beats.delete(instance);
      else beats.set(instance, 0);
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
      clearInterval(counting);
      stopWatching();
      for (const { listening } of tables.values()) listening.unsubscribe();
    },
  };
}

function countBeat(beats: Map<string, number>): void {
  for (const [instance, count] of beats) {
    if (count >= forgottenBeats) beats.delete(instance);
    else beats.set(instance, count + 1);
  }
}

/** Says every 250 ms that this replica is there. Returns the end, which says that it is leaving. */
export function announceReplica(core: Core): () => void {
  const subject = replicaSubject(core.service, core.instance);
  const headers = encodeHeaders(publisherHeaders(core));
  const say = (state: string) => {
    core.connection.tryPublish(subject, Buffer.from(state), headers);
  };
  const beating = setInterval(say, beatMs, "serving");
  beating.unref();
  say("serving");
  return () => {
    clearInterval(beating);
    say(leaving);
  };
}
