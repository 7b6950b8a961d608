// The rows of an object that has none: it was applied by hand, or whoever created it died before the commit. Pure.

import { orderOf } from "../cluster/clone-order.ts";
import { annotation, isOffered, type Server } from "../cluster/resource.ts";
import { costsOf } from "./input.ts";
import type { Adoption } from "./store.ts";

export function adoptionOf(server: Server, now: number): Adoption {
  const { metadata, spec } = server;
  const creator = creatorOf(server, now);
  return {
    ...{ name: metadata.name, subdomain: spec.subdomain, offered: isOffered(server), order: orderOf(server) },
    ...(creator !== undefined && { creator: { id: creator, costs: costsOf(spec) } }),
  };
}

/** Long after any death; a database that is restored from a bundle lacks younger rows. */
const creatorMs = 60 * 60_000;

/**
 * The account that made the server for itself. Only of an object that is new and was never changed, thus never woken: it has
 * no world yet, so an account that lost it since, in a database of later, sees nothing of anybody else.
 */
function creatorOf({ metadata }: Server, now: number): string | undefined {
  const { annotations, generation, creationTimestamp } = metadata;
  const isNew = creationTimestamp !== undefined && now - Date.parse(creationTimestamp) < creatorMs;
  return generation === 1 && isNew ? annotations?.[annotation.createdBy] : undefined;
}
