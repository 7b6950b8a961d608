// What a player sees in the server list. A ping wakes nothing; of a server that runs it shows what the server itself said
// a few seconds ago, of every other one what is known already.

import type { ServerAnswer, ServerStatus, Text } from "@svc/minecraft";
import type { Language, ServerInfo } from "@svc/proto";
import { joinAddress } from "../registry/join-address.ts";
import { say } from "../text/text.ts";
import { durationText, startOutlookOf } from "./start-outlook.ts";

type Listing = { text: string; online: number; max: number };

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

/** `isMaintained`: a maintenance window lasts, in which nothing is woken. */
export function listingOf(server: ServerInfo | undefined, now: number, isMaintained = false): Listing {
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
    if (server.phase === "Stopping") return { text: say("motdStopping", language, { name }), ...none };
    if (isMaintained) return { text: say("motdMaintenance", language, { name }), ...none };
    return { text: sleepingText(server, name, now), ...none };
  }
  return { text: startingText(server, name, now), ...none };
}

function startingText(server: ServerInfo, name: string, now: number): string {
  const outlook = startOutlookOf(server, now);
  if (outlook.kind !== "about") return say(startingSentences[outlook.kind], "en", { name });
  return say("motdStarting", "en", { name, time: durationText(outlook.seconds, "en") });
}

const startingSentences = {
  unknown: "motdStartingSoon",
  soon: "motdStartingAnyMoment",
  late: "motdStartingLate",
} as const;

function sleepingText(server: ServerInfo, name: string, now: number): string {
  const outlook = startOutlookOf(server, now);
  if (outlook.kind !== "about") return say("motdSleeping", "en", { name });
  return say("motdSleepingAbout", "en", { name, time: durationText(outlook.seconds, "en") });
}
