import type { KubeObject } from "../../cluster-api.ts";
import { isObject, type JsonObject } from "../json.ts";

// Core events and events.k8s.io events are one stored object (the core shape) with different field names.
const renamed: [core: string, modern: string][] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["reportingComponent", "reportingController"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
];

function rename(object: JsonObject, pairs: [from: string, to: string][]): JsonObject {
  const names = new Map(pairs);
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [names.get(key) ?? key, value]));
}

/** The events.k8s.io/v1 face of stored core events. */
export const eventsView = {
  read: (stored: KubeObject): KubeObject => {
    const event = rename(stored, renamed);
    if (isObject(event["series"]))
      event["series"] = rename(event["series"], [["lastObservedTime", "lastObservedTime"]]);
    return { ...event, kind: "Event", apiVersion: "events.k8s.io/v1", metadata: stored.metadata };
  },
  write: (object: KubeObject): KubeObject => {
    const event = rename(
      object,
      renamed.map(([core, modern]) => [modern, core]),
    );
    return { ...event, kind: "Event", apiVersion: "v1", metadata: object.metadata };
  },
};
