// Maps the answer of a session server to the profile for the proxy (docs/reference/session-verifier.md#uuid): pure.

import { createHash } from "node:crypto";
import type { sessionVerifier } from "@svc/proto";

/**
 * UUIDv5 of the URL namespace and `https://svc.internal/auth-source`. The UUIDs of all players of third parties derive
 * from it: changing it would hand their worlds, inventories and links to others.
 */
export const namespace = "7afa40da79985c51ba579aa83281379e";

/** What a source says of a player: an id of its own and a name. */
export type SourceProfile = { id: string; name: string; properties?: Record<string, unknown>[] };

/** Reads the body of a 200; undefined when it is not a profile at all. */
export function readProfile(body: string): SourceProfile | undefined {
  const value = parseJson(body);
  if (!isObject(value)) return undefined;
  const { id, name, properties } = value;
  if (typeof id !== "string" || typeof name !== "string" || id === "" || name === "") return undefined;
  if (properties === undefined) return { id, name };
  if (!Array.isArray(properties) || !properties.every(isObject)) return undefined;
  return { id, name, properties };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A UUID in any usual spelling as 32 lower-case hex digits. */
export function parseUuid(text: string): string | undefined {
  const hex = /^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i.exec(text);
  return hex?.slice(1).join("").toLowerCase();
}

/** 32 hex digits with dashes, as UUIDs are stored. */
export function toDashed(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/**
 * UUID of a third party's player: version 3 of the namespace and `tag:id`. An id that is a UUID counts as its 32
 * lower-case digits, so that a source may change how it spells them.
 */
export function thirdPartyId(tag: string, nativeId: string): string {
  const bytes = createHash("md5")
    .update(Buffer.from(namespace, "hex"))
    .update(`${tag}:${parseUuid(nativeId) ?? nativeId}`)
    .digest();
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x30;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex");
}

/** A name as Minecraft allows it: plain ASCII, so that names cannot be confused. */
export function isPlayerName(name: string): boolean {
  return /^[A-Za-z0-9_]{3,16}$/.test(name);
}

const longestName = 16;

/** `PREFIX_name`, cut to what a name may be. */
export function prefixedName(prefix: string, name: string): string {
  return `${prefix}_${name}`.slice(0, longestName);
}

export type Asked = { username: string; serverId: string; ip?: string };

const longestParameterBytes = 64;

/** The parameters of a request, or undefined when they cannot be valid. */
export function readQuery(query: {
  username?: string | undefined;
  serverId?: string | undefined;
  ip?: string | undefined;
}): Asked | undefined {
  const { username, serverId, ip } = query;
  if (!username || !serverId) return undefined;
  const isLong = (text: string) => Buffer.byteLength(text) > longestParameterBytes;
  if ([username, serverId, ip ?? ""].some(isLong)) return undefined;
  return { username, serverId, ...(ip && { ip }) };
}

/** The answer for a player whose UUID and name are settled. */
export function toAnswer(about: SourceProfile): sessionVerifier.Profile {
  const { id, name, properties } = about;
  return { id, name, ...(properties && { properties }) };
}
