// The row of a caller's own list (docs/reference/claims.md#own). Pure.

import type { ownership } from "@svc/proto";
import type { z } from "zod";
import type { Server } from "../cluster/resource.ts";
import { isClaimable } from "../database/server-row.ts";
import { toServerInfo } from "../server/info.ts";
import type { ListedRow } from "./list-store.ts";

type MyServerView = z.output<typeof ownership.MyServerView>;

/** `server` is undefined while the cluster cannot be reached, and when the object is gone. */
export function toMyServerView(
  listed: ListedRow,
  server: Server | undefined,
  about: { accountId: string; autoRestarts: number },
): MyServerView {
  const { name, row } = listed;
  const owned = row.ownerId === about.accountId;
  const base = { name, owned, claimable: isClaimable(row) };
  const retiring = owned && row.retiring ? { retiring: row.retiring } : {};
  const subdomain = listed.subdomain ?? server?.spec.subdomain ?? name;
  if (!server) return { ...base, subdomain, playersOnline: 0, playersMax: 0, ...retiring };
  const { phase, playersOnline, playersMax, displayName, ...info } = toServerInfo(server, about);
  const shown = { ...base, subdomain, playersOnline, playersMax, phase, ...given({ displayName }) };
  if (!owned) return shown;
  const { desiredState, autostartPolicy, playerCountUnknown, autoRestarts, startGaveUp } = info;
  const own = given({ desiredState, autostartPolicy, playerCountUnknown, autoRestarts, startGaveUp });
  return { ...shown, ...own, ...retiring };
}

/** The fields that are set. */
function given<T extends Record<string, unknown>>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
