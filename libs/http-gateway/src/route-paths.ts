// The methods of a path, for 405 and its Allow header (docs/reference/http.md#shared).

import { type HttpBinding, pathsOf } from "@svc/proto";

/** Methods of a route: GET includes HEAD, except where reading spends a token or never ends. */
export function methodsOf(http: Pick<HttpBinding, "method" | "kind">): string[] {
  return http.method === "GET" && http.kind === "json" ? ["GET", "HEAD"] : [http.method];
}

/** `/servers/{name}` as the router writes it: `/servers/:name`. */
export function routerPath(path: string): string {
  return path.replace(/\{([^}]+)\}/g, ":$1");
}

/** Looks up the methods under which a path is served; none = the path is unknown. */
export function methodFinder(bindings: readonly HttpBinding[]): (path: string) => string[] {
  const known = bindings.flatMap((http) =>
    pathsOf(http).map((path) => ({ segments: path.split("/"), methods: methodsOf(http) })),
  );
  return (path) => {
    const segments = path.split("/");
    const matching = known.filter((one) => isMatch(one.segments, segments));
    return [...new Set(matching.flatMap((one) => one.methods))].sort();
  };
}

function isMatch(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((part, index) => {
    const segment = segments[index] ?? "";
    return part.startsWith("{") ? segment !== "" : part === segment;
  });
}
