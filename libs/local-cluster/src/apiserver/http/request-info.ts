/** The target of a URL: a resource in Kubernetes' path grammar, or any other path. */
export type RequestInfo =
  | { kind: "path"; path: string; verb: string }
  | {
      kind: "resource";
      path: string;
      verb: string;
      group: string;
      version: string;
      resource: string;
      namespace?: string;
      name?: string;
      subresource?: string;
    };

/** Names of the verbs by HTTP method for one object, and for a collection. */
const single: Record<string, string> = {
  GET: "get",
  HEAD: "get",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
  POST: "create",
};
const collection: Record<string, string> = {
  ...{ GET: "list", HEAD: "list", POST: "create", DELETE: "deletecollection", PUT: "update", PATCH: "patch" },
};

/** Reads method, path and query. Broken percent escapes make it a plain path, which no handler serves. */
export function readRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const parts = decode(path);
  const plain: RequestInfo = { kind: "path", path, verb: method.toLowerCase() };
  if (!parts) return plain;
  const core = parts[0] === "api";
  if ((!core && parts[0] !== "apis") || parts.length < (core ? 3 : 4)) return plain;
  const [group, version, rest] = core
    ? ["", parts[1] ?? "", parts.slice(2)]
    : [parts[1] ?? "", parts[2] ?? "", parts.slice(3)];
  const place = readPlace(rest);
  const watching = ["1", "true"].includes(query.get("watch") ?? "");
  const verbs = place.name === undefined ? collection : single;
  const verb = verbs[method] ?? method.toLowerCase();
  return {
    kind: "resource",
    path,
    group,
    version,
    ...place,
    verb: watching && verb === "list" ? "watch" : verb,
  };
}

function decode(path: string): string[] | undefined {
  try {
    return path
      .split("/")
      .slice(1)
      .filter((part, index, all) => part !== "" || index < all.length - 1)
      .map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

type Place = { resource: string; namespace?: string; name?: string; subresource?: string };

function readPlace(rest: string[]): Place {
  const namespaced =
    rest[0] === "namespaces" && rest.length > 2 && !["status", "finalize"].includes(rest[2] ?? "");
  const [resource = "", name, ...deeper] = namespaced ? rest.slice(2) : rest;
  const namespace = rest[0] === "namespaces" ? rest[1] : undefined;
  return {
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(deeper.length > 0 ? { subresource: deeper.join("/") } : {}),
  };
}
