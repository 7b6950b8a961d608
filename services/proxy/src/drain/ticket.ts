// A player who is sent to another proxy takes along where they were: the address they arrive at no longer says it. The
// ticket lies with the client, so it is signed with the secret that both proxies share, for this player and a short time.
// It opens nothing: it stands in for the subdomain that the player could have typed.

import { createHmac, timingSafeEqual } from "node:crypto";

export const ticketCookie = "svc:ticket";
const signatureBytes = 32;

type Ticket = { player: string; server: string; until: number };

export function sealTicket({ player, server, until }: Ticket, secret: string): Buffer {
  const body = Buffer.from(`${Math.round(until)} ${server}`);
  return Buffer.concat([sign(player, body, secret), body]);
}

/** The server of a ticket; undefined when it is not ours, not this player's, over, or no ticket at all. */
export function openTicket(
  bytes: Buffer,
  { player, secrets, now }: { player: string; secrets: readonly string[]; now: number },
): string | undefined {
  if (bytes.length <= signatureBytes) return undefined;
  const [signature, body] = [bytes.subarray(0, signatureBytes), bytes.subarray(signatureBytes)];
  const isSigned = (secret: string) => timingSafeEqual(signature, sign(player, body, secret));
  if (!secrets.some(isSigned)) return undefined;
  const [, until, server] = /^(\d{1,15}) ([a-z0-9-]{1,63})$/.exec(body.toString()) ?? [];
  return now < Number(until) ? server : undefined;
}

function sign(player: string, body: Buffer, secret: string): Buffer {
  return createHmac("sha256", secret).update(`${ticketCookie} ${player} `).update(body).digest();
}
