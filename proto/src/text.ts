// Shapes of the strings that more than one noun uses.

import { z } from "zod";

/** A moment as a text for people says it when their time zone is not known (a number is unix milliseconds): `2026-11-28 16:00 UTC`. */
export function shortMoment(at: Date | string | number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** RFC 3339 date-time in UTC. */
export const Timestamp = z.iso.datetime({ offset: true });

const uuidPattern = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/;

/** A player's UUID in any usual spelling, given on as lower case with dashes (docs/reference/wake.md#checks). */
export const PlayerUuid = z
  .string()
  .trim()
  .toLowerCase()
  .regex(uuidPattern, "must be a UUID")
  .transform((text) => canonicalUuid(text))
  .meta({ type: "string", format: "uuid" });

function canonicalUuid(text: string): string {
  const hex = text.replaceAll("-", "");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** Lower-case hex of a SHA-256. */
export const Sha256Hex = z.string().regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hex digits");

/** A mail address as docs/reference/sign-in.md#codes takes it: 3 to 254 characters, one @ inside, no spaces, a dot in the domain. */
export const EmailAddress = z
  .string()
  .trim()
  .min(3)
  .max(254)
  .regex(/^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/, "must be an e-mail address")
  .meta({ type: "string", format: "email" });

/** A Kubernetes resource quantity such as `8Gi`, `500m` or `2`. */
export const Quantity = z
  .string()
  .max(32)
  .regex(/^\d+(\.\d+)?([eE][+-]?\d+|m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi)?$/, "must be a quantity such as 8Gi");

/** A whole number that may come as text in a query. */
export function wholeNumber(lowest: number, highest: number) {
  const digits = z
    .string()
    .regex(/^\d{1,15}$/, "must be a whole number")
    .transform(Number);
  return z
    .union([z.number(), digits])
    .pipe(z.number().int().min(lowest).max(highest))
    .meta({ type: "integer", minimum: lowest, maximum: highest });
}

/** Query of a paged list (docs/reference/http.md#shared): `limit` 1 to 100, `offset` from 0. */
export const paging = {
  limit: wholeNumber(1, 100).default(20),
  offset: wholeNumber(0, 1_000_000_000).default(0),
};

/** As `paging`, of a list that is whole without parameters (docs/reference/http.md#pages). */
export const optionalPaging = {
  limit: wholeNumber(1, 100).optional(),
  offset: wholeNumber(0, 1_000_000_000).optional(),
};

/** A number of bytes, also as the digits that headers and queries carry. */
export const ByteCount = z
  .preprocess(
    (value) => (typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value),
    z.number({ error: "must be a number of bytes" }).int().min(0),
  )
  .meta({ type: "integer", format: "int64", minimum: 0 });
