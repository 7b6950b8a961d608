// Names of servers and their subdomains (docs/reference/server-resource.md#names).

import { z } from "zod";

const label = /^[a-z0-9]([a-z0-9-]{1,30}[a-z0-9])$/;

/** Names that belong to the platform; only system servers carry `login` and `lobby`. */
export const reservedNames: ReadonlySet<string> = new Set([
  "login",
  "lobby",
  "admin",
  "panel",
  "console",
  "api",
  "velocity",
  "registry",
  "internal",
  "www",
  "svc",
]);
export const systemNames: ReadonlySet<string> = new Set(["login", "lobby"]);

/** True for 3 to 32 of a-z, 0-9 and dash without a dash at an edge. Says nothing about reservation. */
export function isNameShape(name: string): boolean {
  return label.test(name) && name.length >= 3 && name.length <= 32;
}

/** True for a name or subdomain that a user server may take. */
export function isUserName(name: string): boolean {
  return isNameShape(name) && !reservedNames.has(name);
}

/**
 * A server name in a path. Its shape is checked by the owner, which answers 400 `bad_name`; here only the
 * length is bounded so that nothing absurd travels.
 */
export const ServerNameParam = z.string().min(1).max(63);
