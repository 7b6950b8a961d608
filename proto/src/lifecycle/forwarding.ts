// Secrets of modern forwarding, with which a proxy signs when it connects a player to a server.
// Vocabulary: master = what the proxy and lifecycle share, seen by nobody else; key = which master and which run of a
// server a secret belongs to, no secret itself; the secret of a server is derived from both, so that no table is kept
// and what one server knows opens no other one.

import { createHash, createHmac } from "node:crypto";

const shortest = 32;
const most = 4;
const digest = (text: string, length: number) =>
  createHash("sha256").update(text).digest("hex").slice(0, length);
const derive = (master: string, ...about: string[]) =>
  createHmac("sha256", master)
    .update(["svc forwarding v1", ...about].join("\0"))
    .digest("base64url");

/**
 * The masters of a file, one a line. The first is used, the others are still accepted: that is how one is replaced.
 * Throws with a sentence for the operator, which does not hold the text.
 */
export function parseForwardingMasters(text: string): string[] {
  const masters = text.split(/\r?\n/).flatMap((line) => line.trim() || []);
  if (masters.length === 0)
    throw new Error("it holds no forwarding master; write one line of 32 random bytes");
  if (masters.length > most)
    throw new Error(`it holds more than ${most} lines; the newest master comes first`);
  if (masters.some((master) => master.length < shortest))
    throw new Error(
      `a forwarding master has at least ${shortest} characters; write 32 random bytes as base64`,
    );
  return masters;
}

const idOf = (master: string) => digest(`svc forwarding master\0${master}`, 12);

/**
 * The key of the run that begins. A server created again has another uid, and each start another generation: who owned a
 * server before knows nothing of its next run.
 */
export function forwardingKeyOf(master: string, run: { uid: string; generation: number }): string {
  return `${idOf(master)}.${digest(`${run.uid} ${run.generation}`, 16)}`;
}

/** The secret of a server's run; undefined when the key's master is none of these. */
export function serverForwardingSecret(
  masters: readonly string[],
  server: { name: string; key: string },
): string | undefined {
  const id = server.key.split(".")[0];
  const master = masters.find((one) => idOf(one) === id);
  return master === undefined ? undefined : derive(master, "server", server.name, server.key);
}

/** What the login gate or the lobby accepts, by its role; the proxy signs with the first. */
export function systemForwardingSecrets(masters: readonly string[], role: "login" | "lobby"): string[] {
  return masters.map((master) => derive(master, "system", role));
}

/** What proxies sign the tickets with that players carry from one to the other. */
export function ticketSecrets(masters: readonly string[]): string[] {
  return masters.map((master) => derive(master, "ticket"));
}

/** The key of servers that share one secret: where another proxy, which knows only one, stands in for ours. */
export const sharedForwardingKey = "shared";
