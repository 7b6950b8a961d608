// Changes asked for by another site's page are refused before anything else (docs/reference/http.md#cross-site).

import type { IncomingHttpHeaders } from "node:http";

const changing: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/** True for a change that a browser says comes from another site. Callers that send neither header pass. */
export function isCrossSite(method: string, headers: IncomingHttpHeaders, host: string): boolean {
  if (!changing.has(method)) return false;
  const site = headers["sec-fetch-site"];
  if (site === "same-site" || site === "cross-site") return true;
  const { origin } = headers;
  return origin !== undefined && !isSameHost(origin, host);
}

// `Origin: null` (sandboxed frames, redirects across sites) names no host, so it differs from every host.
function isSameHost(origin: string, host: string): boolean {
  const from = URL.parse(origin);
  if (!from || (from.protocol !== "http:" && from.protocol !== "https:")) return false;
  return from.host === URL.parse(`${from.protocol}//${host}`)?.host;
}
