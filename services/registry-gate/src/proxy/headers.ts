// What of a message is passed on: named headers only, so that neither side can speak to the other's connection.

import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";

const requestHeaders = [
  "accept",
  "content-type",
  "content-length",
  "content-range",
  "range",
  "if-none-match",
  "if-modified-since",
  "user-agent",
] as const;
const responseHeaders = [
  "accept-ranges",
  "cache-control",
  "content-length",
  "content-range",
  "content-type",
  "docker-content-digest",
  "docker-distribution-api-version",
  "docker-upload-uuid",
  "etag",
  "last-modified",
  "oci-chunk-max-length",
  "oci-chunk-min-length",
  "oci-filters-applied",
  "oci-subject",
  "range",
  "retry-after",
  "x-content-type-options",
] as const;

/**
 * `isTyped` for a body whose type means something. The registry looks for parameters in a body that says it is a form, and
 * they would count more than those that the gate has checked.
 */
export function forwardedRequest(
  headers: IncomingHttpHeaders,
  { isTyped }: { isTyped: boolean },
): OutgoingHttpHeaders {
  const picked = pick(headers, requestHeaders);
  if (!isTyped && picked["content-type"] !== undefined) picked["content-type"] = "application/octet-stream";
  return picked;
}

/** Undefined when the answer leads to another server than the registry. */
export function forwardedResponse(
  headers: IncomingHttpHeaders,
  upstream: string,
): OutgoingHttpHeaders | undefined {
  const picked = pick(headers, responseHeaders);
  if (headers.location !== undefined) {
    const location = ownLocation(headers.location, upstream);
    if (location === undefined) return undefined;
    picked["location"] = location;
  }
  // The next page of a listing.
  if (typeof headers.link === "string" && /^<\/v2\/[\w./?=&%:-]*>; rel="next"$/.test(headers.link)) {
    picked["link"] = headers.link;
  }
  return picked;
}

/** The registry names itself by the address at which the gate reaches it; clients get the path alone. */
function ownLocation(location: string, upstream: string): string | undefined {
  if (!URL.canParse(location, upstream)) return undefined;
  const { origin, pathname, search } = new URL(location, upstream);
  return origin === new URL(upstream).origin && pathname.startsWith("/v2/") ? pathname + search : undefined;
}

function pick(headers: IncomingHttpHeaders, names: readonly string[]): OutgoingHttpHeaders {
  const found = names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]));
  return Object.fromEntries(found) as OutgoingHttpHeaders;
}
