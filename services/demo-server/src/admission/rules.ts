import type { AccessLists } from "../access/lists.ts";

type Request = {
  readonly name: string;
  readonly lists: AccessLists;
  readonly isStopping: boolean;
  readonly online: number;
  readonly maxPlayers: number;
};

/** Why a player may not come in, in the words they read; the first rule that applies wins. */
export function refusal({ name, lists, isStopping, online, maxPlayers }: Request): string | undefined {
  if (isStopping) return "The server is stopping. Join again once it has started.";
  if (!isPlayerName(name)) return "This name can't join: names have 1 to 32 letters, digits or underscores.";
  const ban = lists.bans.find(name);
  if (ban) return `You are banned from this server. Reason: ${String(ban["reason"] ?? "not given")}`;
  if (lists.isWhitelistOn() && !lists.whitelist.has(name) && !lists.ops.has(name)) {
    return "You are not whitelisted on this server!";
  }
  if (online >= maxPlayers) return "The server is full!";
  return undefined;
}

/** Proxies for other editions put a dot or a star before the name. */
export function isPlayerName(name: string): boolean {
  return /^[.*]?\w{1,32}$/.test(name);
}
