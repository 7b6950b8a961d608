// Operations of webhooks: those of a server, or of the installation.

import type { Input, Output } from "../api/operations.ts";
import { poll, useAction, useOperation } from "../api/query.ts";

/** A server, or the installation. */
export type Place = { name: string } | "platform";

export type Webhook = Output<"webhooks.list">["webhooks"][number];
export type Delivery = Output<"webhooks.listDeliveries">["deliveries"][number];
export type Event = Input<"webhooks.createPlatform">["events"][number];
export type Format = Webhook["format"];
export type State = Delivery["state"];

/** A test is no event that somebody chooses. */
export function chosen(events: Webhook["events"]) {
  return events.filter((event) => event !== "ping");
}

const nowhere = { name: "" };
const lists = ["webhooks.list"] as const;
const platformLists = ["webhooks.listPlatform"] as const;

export function useWebhooks(place: Place) {
  const isPlatform = place === "platform";
  const every = poll.status;
  const own = useOperation("webhooks.list", isPlatform ? nowhere : place, { enabled: !isPlatform, every });
  const all = useOperation("webhooks.listPlatform", {}, { enabled: isPlatform, every });
  return isPlatform ? all : own;
}

type Page = { id: string; state?: State; limit: number; offset: number };

export function useDeliveries(place: Place, page: Page) {
  const isPlatform = place === "platform";
  const options = { every: poll.busy, keepsPrevious: true } as const;
  const server = isPlatform ? nowhere : place;
  const own = useOperation(
    "webhooks.listDeliveries",
    { ...server, ...page },
    { ...options, enabled: !isPlatform },
  );
  const all = useOperation("webhooks.listPlatformDeliveries", page, { ...options, enabled: isPlatform });
  return isPlatform ? all : own;
}

// The server's own events are what its form offers.
const ofServer = (events: readonly Event[]) => events as Input<"webhooks.create">["events"];

export function useCreate(place: Place) {
  const own = useAction("webhooks.create", lists);
  const all = useAction("webhooks.createPlatform", platformLists);
  const { isPending, error, data } = place === "platform" ? all : own;
  const run = (body: Input<"webhooks.createPlatform">, onSuccess: (made: typeof data & object) => void) =>
    place === "platform"
      ? all.mutate(body, { onSuccess })
      : own.mutate({ ...place, ...body, events: ofServer(body.events) }, { onSuccess });
  return { isPending, error, data, run };
}

export function useChange(place: Place) {
  const own = useAction("webhooks.change", lists);
  const all = useAction("webhooks.changePlatform", platformLists);
  const { isPending, error } = place === "platform" ? all : own;
  const run = (body: Input<"webhooks.changePlatform">, onSuccess: () => void = () => {}) =>
    place === "platform"
      ? all.mutate(body, { onSuccess })
      : own.mutate({ ...place, ...body, events: ofServer(body.events) }, { onSuccess });
  return { isPending, error, run };
}

export function useRemove(place: Place) {
  const own = useAction("webhooks.remove", lists);
  const all = useAction("webhooks.removePlatform", platformLists);
  const { isPending, error } = place === "platform" ? all : own;
  const run = (id: string) => (place === "platform" ? all.mutate({ id }) : own.mutate({ ...place, id }));
  return { isPending, error, run };
}

export function useRotate(place: Place) {
  const own = useAction("webhooks.rotate", lists);
  const all = useAction("webhooks.rotatePlatform", platformLists);
  const { isPending, error, data, reset } = place === "platform" ? all : own;
  const run = (id: string) => (place === "platform" ? all.mutate({ id }) : own.mutate({ ...place, id }));
  return { isPending, error, data, reset, run };
}

export function useTest(place: Place) {
  const own = useAction("webhooks.test", [...lists, "webhooks.listDeliveries"]);
  const all = useAction("webhooks.testPlatform", [...platformLists, "webhooks.listPlatformDeliveries"]);
  const { isPending, error } = place === "platform" ? all : own;
  const run = (id: string, onSuccess: () => void) =>
    place === "platform" ? all.mutate({ id }, { onSuccess }) : own.mutate({ ...place, id }, { onSuccess });
  return { isPending, error, run };
}

export function useRedeliver(place: Place) {
  const own = useAction("webhooks.redeliver", [...lists, "webhooks.listDeliveries"]);
  const all = useAction("webhooks.redeliverPlatform", [...platformLists, "webhooks.listPlatformDeliveries"]);
  const { isPending, error } = place === "platform" ? all : own;
  const run = (which: { id: string; delivery: string }, onSuccess: () => void) =>
    place === "platform"
      ? all.mutate(which, { onSuccess })
      : own.mutate({ ...place, ...which }, { onSuccess });
  return { isPending, error, run };
}
