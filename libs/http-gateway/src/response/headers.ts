// Headers of every response (docs/reference/http.md#shared).

const fixed = [
  "X-Content-Type-Options",
  "nosniff",
  "X-Frame-Options",
  "DENY",
  "Referrer-Policy",
  "no-referrer",
] as const;

/** Nothing may be loaded or run: the policy of every response that is not a page. */
const strictPolicy = "default-src 'none'";

/** Flat list of names and values; Strict-Transport-Security only when the edge received https. */
export function commonHeaders(
  requestId: string,
  forwardedProto: string | string[] | undefined,
  policy = strictPolicy,
): string[] {
  const headers = ["X-Request-Id", requestId, ...fixed, "Content-Security-Policy", policy];
  if (forwardedProto === "https") headers.push("Strict-Transport-Security", "max-age=31536000");
  return headers;
}
