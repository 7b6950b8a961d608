// The id of an export, the token of its Job and the key of its byte transfer are derived from its ticket, one way.
// The bucket contains none of them in clear text. Pure.

import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { ByteTransferTicket } from "@svc/proto";
import { hashOf } from "../one-time-token.ts";

export { hashOf, isToken } from "../one-time-token.ts";

const derive = (secret: string, what: string) => createHmac("sha256", secret).update(what);

export type Secrets = { ticket: string; id: string; token: string; ticketHash: string; tokenHash: string };

export function newSecrets(): Secrets {
  const ticket = randomBytes(32).toString("hex");
  const token = tokenOf(ticket);
  return { ticket, id: idOf(ticket), token, ticketHash: hashOf(ticket), tokenHash: hashOf(token) };
}

/** The id by which the Job names its export: 16 hex digits. */
export function idOf(ticket: string): string {
  return derive(ticket, "export id").digest("hex").slice(0, 16);
}

export function tokenOf(ticket: string): string {
  return derive(ticket, "export token").digest("hex");
}

/** Seals the address of the bytes for the holder of the ticket, and the Job. */
export function sealTicket(token: string, transfer: ByteTransferTicket): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", derive(token, "export lane").digest(), nonce);
  const sealed = Buffer.concat([cipher.update(JSON.stringify(transfer)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64");
}

/** Throws for anything that was not sealed for this ticket. */
export function openTicket(ticket: string, sealed: string): ByteTransferTicket {
  const bytes = Buffer.from(sealed, "base64");
  const key = derive(tokenOf(ticket), "export lane").digest();
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(12, 28));
  const text = Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("utf8");
  return ByteTransferTicket.parse(JSON.parse(text));
}
