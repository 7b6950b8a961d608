// Which operation of the registry a request is. The target that is forwarded is written anew from the parts found here,
// so that gate and registry can't read one path in two ways.

type RouteKind = "base" | "catalog" | "tags" | "referrers" | "manifest" | "blob" | "upload-start" | "upload";

export type Route = {
  kind: RouteKind;
  /** Empty for `base` and `catalog`. */
  repository: string;
  /** Path and query in canonical form. */
  target: string;
  /** Repository that a blob is to be mounted from. */
  mountFrom?: string;
};

const longestTarget = 4_096;
const longestRepository = 255;
const component = /^[a-z0-9]+(?:(?:\.|__|_|-+)[a-z0-9]+)*$/;
const tag = /^\w[\w.-]{0,127}$/;
const digest = /^sha(?:256:[0-9a-f]{64}|512:[0-9a-f]{128})$/;
const session = /^[A-Za-z0-9_.=-]{1,256}$/;
const number = /^\d{1,6}$/;
const state = /^[A-Za-z0-9_=-]{1,2048}$/;
/** Nothing that has to be decoded, no backslash, no empty or dotted segment. */
const plainPath = /^\/v2(?:\/[\w:=.-]+)*\/?$/;

type Query = Record<string, string>;

/** Undefined for what is not a request of the registry's protocol. */
export function parseRoute(url: string): Route | undefined {
  if (url.length > longestTarget) return undefined;
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  if (!plainPath.test(path)) return undefined;
  const query = mark < 0 ? {} : parseQuery(url.slice(mark + 1));
  if (!query) return undefined;
  if (path === "/v2" || path === "/v2/") return { kind: "base", repository: "", target: "/v2/" };
  const segments = path.split("/").slice(2);
  if (segments.some((segment) => segment === "." || segment === "..")) return undefined;
  if (segments.length === 1 && segments[0] === "_catalog") return listing("catalog", ["_catalog"], query);
  return inRepository(segments, query);
}

/** One value for each name; a name that is given twice could be read in two ways. */
function parseQuery(text: string): Query | undefined {
  const query: Query = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) {
    if (name in query) return undefined;
    query[name] = value;
  }
  return query;
}

function inRepository(segments: string[], query: Query): Route | undefined {
  const last = segments.at(-1) ?? "";
  const before = segments.at(-2) ?? "";
  if (before === "uploads" && segments.at(-3) === "blobs") {
    const name = repositoryOf(segments.slice(0, -3));
    if (!name) return undefined;
    return last === "" ? uploadStart(name, query) : upload(name, last, query);
  }
  const name = repositoryOf(segments.slice(0, -2));
  if (!name) return undefined;
  const plain = (kind: RouteKind): Route => ({
    kind,
    repository: name,
    target: `/v2/${name}/${before}/${last}`,
  });
  if (before === "manifests" && (tag.test(last) || digest.test(last))) return plain("manifest");
  if (before === "blobs" && digest.test(last)) return plain("blob");
  if (before === "referrers" && digest.test(last)) return plain("referrers");
  if (before === "tags" && last === "list") return listing("tags", [name, "tags", "list"], query);
  return undefined;
}

function repositoryOf(components: readonly string[]): string | undefined {
  const name = components.join("/");
  return isRepository(name) ? name : undefined;
}

function isRepository(name: string): boolean {
  return name.length <= longestRepository && name.split("/").every((part) => component.test(part));
}

function listing(kind: "catalog" | "tags", path: readonly string[], query: Query): Route | undefined {
  const { n, last } = query;
  if (n !== undefined && !number.test(n)) return undefined;
  if (last !== undefined && !tag.test(last) && !isRepository(last)) return undefined;
  const target = withQuery(`/v2/${path.join("/")}`, { n, last });
  return { kind, repository: kind === "tags" ? (path[0] ?? "") : "", target };
}

function uploadStart(repository: string, query: Query): Route | undefined {
  const { digest: whole, mount, from } = query;
  if ([whole, mount].some((value) => value !== undefined && !digest.test(value))) return undefined;
  if (from !== undefined && !isRepository(from)) return undefined;
  const target = withQuery(`/v2/${repository}/blobs/uploads/`, { digest: whole, mount, from });
  const mountFrom = mount === undefined ? undefined : from;
  return { kind: "upload-start", repository, target, ...(mountFrom !== undefined && { mountFrom }) };
}

function upload(repository: string, id: string, query: Query): Route | undefined {
  const { _state, digest: whole } = query;
  if (!session.test(id) || (_state !== undefined && !state.test(_state))) return undefined;
  if (whole !== undefined && !digest.test(whole)) return undefined;
  const target = withQuery(`/v2/${repository}/blobs/uploads/${id}`, { _state, digest: whole });
  return { kind: "upload", repository, target };
}

/** The same upload without the mount: the registry answers with a session, and the client sends the blob. */
export function withoutMount({ repository }: Route): Route {
  return { kind: "upload-start", repository, target: `/v2/${repository}/blobs/uploads/` };
}

function withQuery(path: string, query: Record<string, string | undefined>): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}
