/** Where to go after sign-in: an own path, never another site's and never the sign-in page itself. */
export function nextPath(next: unknown): string {
  if (typeof next !== "string" || !/^\/(?![/\\])/.test(next)) return "/";
  const url = URL.parse(next, "http://panel.invalid");
  if (url?.origin !== "http://panel.invalid") return "/";
  if (url.pathname === "/login" || url.pathname.startsWith("/api/")) return "/";
  return url.pathname + url.search + url.hash;
}
