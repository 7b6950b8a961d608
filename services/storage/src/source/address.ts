// Where files may be fetched from (docs/reference/files.md#fetch): hosts that the operator allows, by https and at public
// addresses, and origins inside that the operator names. Pure.

import { isIP } from "node:net";
import { isPublic } from "@svc/service/public-address";

/** Hosts with their port unless it is 443, and whole origins. */
export type Sources = readonly string[];

type Checked = {
  url: URL;
  /** The operator named the origin as it stands: neither https nor a public address is asked of it. */
  isInside: boolean;
};

const hostShape = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?$/;

/** Whether a setting may name this source. */
export function isSource(text: string): boolean {
  if (!text.includes("://")) return hostShape.test(text);
  if (!URL.canParse(text) || !/^https?:\/\//.test(text)) return false;
  return new URL(text).origin === text;
}

/** Judges an address as it is written; where its name leads is checked at each connection. */
export function checkAddress(text: string, sources: Sources): Checked | { problem: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:\/\//i.test(text))
    return { problem: "The address must be complete, such as https://repo.example.net/plugin.jar." };
  if (url.username !== "" || url.password !== "")
    return { problem: "The address must have no user name and no password." };
  if (sources.includes(url.origin)) return { url, isInside: true };
  if (url.protocol !== "https:") return { problem: "The address must begin with https://." };
  if (!sources.includes(url.host))
    return { problem: `Nothing is fetched from ${url.host} here. Allowed: ${sources.join(", ")}.` };
  const host = hostOf(url);
  if (isIP(host) !== 0 && !isPublic(host))
    return { problem: `${host} is not an address of the public internet.` };
  return { url, isInside: false };
}

/** The host without the brackets of IPv6. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/** An address for people and the audit log: what follows the path may be a secret. */
export function shownAddress({ origin, pathname }: URL): string {
  return `${origin}${pathname}`.slice(0, 500);
}
