import type { KubeObject } from "../cluster-api.ts";
import { isObject, stringAt } from "./json.ts";
import type { Store } from "./store/store.ts";
import type { Stored } from "./store/stored.ts";

/** How long a cluster keeps an event after it was last seen. */
const keptMs = 3_600_000;
/** Limit of stored events; above it the least recently updated ones are deleted in a batch. */
export const mostEvents = 1_000;
const trimBatch = 100;
const sweepEveryMs = 60_000;
const resource = "/events";

type EventLimit = { close: () => void };

/** Deletes old and excess events: nothing else deletes events. */
export function limitEvents(store: Store, now: () => Date): EventLimit {
  let sweptAt = now().getTime();
  const forget = (gone: readonly Stored[]) => {
    for (const { object } of gone) store.remove(resource, object);
  };
  const sweep = () => {
    const until = now().getTime() - keptMs;
    sweptAt = now().getTime();
    forget([...store.collection(resource).range({})].filter(({ object }) => lastSeenMs(object) < until));
  };
  const unsubscribe = store.subscribe(resource, ({ type }) => {
    if (type !== "ADDED") return;
    if (now().getTime() - sweptAt >= sweepEveryMs) sweep();
    const events = store.collection(resource);
    if (events.size() <= mostEvents) return;
    const oldestFirst = [...events.range({})].sort((one, other) => one.version - other.version);
    forget(oldestFirst.slice(0, events.size() - mostEvents + trimBatch));
  });
  const timer = setInterval(sweep, sweepEveryMs);
  timer.unref();
  return {
    close: () => {
      unsubscribe();
      clearInterval(timer);
    },
  };
}

function lastSeenMs(event: KubeObject): number {
  const series = (event as Record<string, unknown>)["series"];
  const times = [
    stringAt(event, "lastTimestamp"),
    stringAt(event, "eventTime"),
    isObject(series) ? stringAt(series, "lastObservedTime") : "",
    event.metadata.creationTimestamp ?? "",
  ];
  return Math.max(...times.map((text) => Date.parse(text)).filter(Number.isFinite), 0);
}
