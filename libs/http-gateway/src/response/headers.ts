// Headers of every response (docs/reference/http.md#shared).

const fixed = [
  "X-Content-Type-Options",
  "nosniff",
  "X-Frame-Options",
  "DENY",
  "Referrer-Policy",
  "no-referrer",
  "Content-Security-Policy",
  "default-src 'none'",
] as const;

/** Flat list of names and values; Strict-Transport-Security only when the edge received https. */
export function commonHeaders(requestId: string, forwardedProto: string | string[] | undefined): string[] {
  const headers = ["X-Request-Id", requestId, ...fixed];
  if (forwardedProto === "https") headers.push("Strict-Transport-Security", "max-age=31536000");
  return headers;
}
