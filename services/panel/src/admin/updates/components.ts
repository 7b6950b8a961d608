// What a report says of the components, in words. Pure.

import type { Output } from "../../api/operations.ts";
import type { StatusLook } from "../../ui/status.tsx";
import type { HealthWords } from "../../words/health-words.ts";

export type Report = NonNullable<Output<"updates.readReport">["report"]>;
export type Component = Report["components"][number];

export const lookOfComponent: Record<Component["state"], StatusLook> = {
  current: "running",
  available: "starting",
  unknown: "unknown",
  unreadable: "failed",
  pinned: "asleep",
};

/** What the report comes to. Nobody may take components that were not looked at for current ones. */
export function headlineOf(components: readonly Component[], { updates }: HealthWords): string {
  const count = (...states: Component["state"][]) =>
    components.filter(({ state }) => states.includes(state)).length;
  const available = count("available");
  if (available > 0) return updates.available(available);
  const unknown = count("unknown", "unreadable");
  return unknown > 0 ? updates.noneKnown(unknown) : updates.noneAvailable;
}

/** The name that people know. */
export function nameOf(component: Component, { updates }: HealthWords): string {
  const names: Readonly<Record<string, string>> = updates.names;
  return names[component.name] ?? component.name;
}

/** What somebody should know of it: of states that svc explains itself, in the reader's language. */
export function noteOf({ name, state, note, error }: Component, { updates }: HealthWords): string {
  if (error !== undefined) return error;
  if (state === "unknown") return updates.noFeed(`ops_watchdog.feed_${name}`);
  if (state === "pinned") return updates.pinned;
  return note ?? "";
}

/** The command that prints the steps of an update. */
export function commandOf({ selector }: Component): string | undefined {
  return selector === undefined ? undefined : `svc update ${selector}`;
}

/** Those that want something first, the others as they come. */
export function inOrder(components: readonly Component[]): Component[] {
  const rank = ({ state }: Component) => (state === "available" ? 0 : state === "unreadable" ? 1 : 2);
  return components.toSorted((a, b) => rank(a) - rank(b));
}
