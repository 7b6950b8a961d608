// What this proxy signs with when it brings a player to a server; all of it follows from the master in a file.

import { readFileSync } from "node:fs";
import {
  parseForwardingMasters,
  serverForwardingSecret,
  systemForwardingSecrets,
  ticketSecrets,
} from "@svc/proto";

export type Forwarding = {
  /** Secret of the run that has this key; undefined when our masters have none for it. */
  ofServer: (server: { name: string; key: string }) => string | undefined;
  ofSystem: (role: "login" | "lobby") => string | undefined;
  /** The first seals, all open. Empty without a master: then no tickets are given. */
  ofTickets: () => readonly string[];
};

type About = { rereadMs: number; now: () => number; onFault: (message: string) => void };

/** The file is read again after a second; while it is damaged the previous masters stay in use. */
export function createForwarding(file: string | undefined, { rereadMs, now, onFault }: About): Forwarding {
  let masters: readonly string[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  const current = () => {
    if (file === undefined || now() - readAt < rereadMs) return masters;
    readAt = now();
    try {
      masters = readForwardingMasters(file);
    } catch (error) {
      onFault((error as Error).message);
    }
    return masters;
  };
  return {
    ofServer: (server) => serverForwardingSecret(current(), server),
    ofSystem: (role) => systemForwardingSecrets(current(), role)[0],
    ofTickets: () => ticketSecrets(current()),
  };
}

/** Throws with the name of the file and what to do about it. */
export function readForwardingMasters(file: string): string[] {
  try {
    return parseForwardingMasters(readFileSync(file, "utf8"));
  } catch (error) {
    throw new Error(`the forwarding master ${file} can't be used: ${(error as Error).message}`);
  }
}
