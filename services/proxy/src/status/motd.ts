// What a player sees in the server list. A ping wakes nothing; of a server that runs it shows what the server itself said
// a few seconds ago, of every other one what is known already.

import type { ServerAnswer, ServerStatus, Text } from "@svc/minecraft";
import type { Language, ServerInfo } from "@svc/proto";
import { joinAddress } from "../registry/join-address.ts";
import { say } from "../text/text.ts";

type Listing = { text: string; online: number; max: number };

/** Moment a start was first seen, and how long the last starts took. */
export type StartTimes = { startedAt: number | undefined; lastStartMs: number | undefined };

/** The whole entry: the resource's own words come before ours, and the server's own count before the registry's. */
export function entryOf(
  server: ServerInfo | undefined,
  { text, online, max }: Listing,
  answer: ServerAnswer | undefined,
): ServerStatus {
  const description: Text = server?.motd === undefined ? text : { text: server.motd.slice(0, 512) };
  if (!answer) return { description, playersOnline: online, playersMax: max };
  const { playersOnline, playersMax, sample, favicon } = answer;
  return { description, playersOnline, playersMax, sample, ...(favicon !== undefined && { favicon }) };
}

export function listingOf(server: ServerInfo | undefined, times: StartTimes, now: number): Listing {
  // A ping carries no locale.
  const language: Language = "en";
  if (!server) return { text: say("motdUnknown", language), online: 0, max: 0 };
  const name = server.displayName ?? server.name;
  const count = { online: server.playersOnline, max: server.playersMax };
  const none = { online: 0, max: server.playersMax };
  if (joinAddress(server) !== undefined) return { text: say("motdRunning", language, { name }), ...count };
  if (server.startGaveUp) return { text: say("motdFailed", language, { name }), ...none };
  const isDown = server.phase === "Stopped" || server.phase === "Stopping";
  if (isDown && server.desiredState !== "Running") {
    return {
      text: say(server.phase === "Stopped" ? "motdSleeping" : "motdStopping", language, { name }),
      ...none,
    };
  }
  return { text: startingText(name, times, now), ...none };
}

function startingText(name: string, { startedAt, lastStartMs }: StartTimes, now: number): string {
  const left = startedAt === undefined || lastStartMs === undefined ? 0 : startedAt + lastStartMs - now;
  // An estimate that has run out is worse than none.
  if (left <= 0) return say("motdStartingSoon", "en", { name });
  return say("motdStarting", "en", { name, seconds: Math.ceil(left / 1_000) });
}

type StartWatch = {
  note: (server: ServerInfo, now: number) => void;
  /** Drops servers that no longer exist. */
  keep: (isThere: (name: string) => boolean) => void;
  timesOf: (name: string) => StartTimes;
};

/** Measures how long each server takes to start, for the estimate in the server list. */
export function createStartWatch(): StartWatch {
  const times = new Map<string, StartTimes>();
  const timesOf = (name: string) => times.get(name) ?? { startedAt: undefined, lastStartMs: undefined };
  return {
    timesOf,
    keep: (isThere) => {
      for (const name of times.keys()) if (!isThere(name)) times.delete(name);
    },
    note: (server, now) => {
      const { startedAt, lastStartMs } = timesOf(server.name);
      if (server.phase === "Starting") {
        if (startedAt === undefined) times.set(server.name, { startedAt: now, lastStartMs });
        return;
      }
      if (startedAt === undefined) return;
      const isThere = joinAddress(server) !== undefined;
      times.set(server.name, { startedAt: undefined, lastStartMs: isThere ? now - startedAt : lastStartMs });
    },
  };
}
