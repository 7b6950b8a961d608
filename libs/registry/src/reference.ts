// References to images as the container world writes them: [host[:port]/]path[:tag][@sha256:hex]. The grammar is that
// of the distribution project, so that nothing odd ever reaches a path of the registry.

export type Reference = {
  /** Registry with its port; undefined for the default one. */
  host: string | undefined;
  /** Path below the host: `library/redis`. */
  path: string;
  /** Host and path as they were written. */
  name: string;
  tag: string | undefined;
  digest: string | undefined;
};

const longestName = 255;
const component = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const pathShape = new RegExp(`^${component}(?:/${component})*$`);
const hostShape =
  /^(?:\[[0-9a-fA-F:]+\]|(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9])(?:\.(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9]))*)(?::\d{1,5})?$/;
const tagShape = /^\w[\w.-]{0,127}$/;
const digestShape = /^sha256:[0-9a-f]{64}$/;

/** Undefined for what is not a reference. */
export function parseReference(text: string): Reference | undefined {
  const at = text.indexOf("@");
  const digest = at < 0 ? undefined : text.slice(at + 1);
  if (digest !== undefined && !digestShape.test(digest)) return undefined;
  const rest = at < 0 ? text : text.slice(0, at);
  const colon = rest.lastIndexOf(":");
  const hasTag = colon > rest.lastIndexOf("/");
  const tag = hasTag ? rest.slice(colon + 1) : undefined;
  if (tag !== undefined && !tagShape.test(tag)) return undefined;
  const named = parseName(hasTag ? rest.slice(0, colon) : rest);
  return named && { ...named, tag, digest };
}

function parseName(name: string): Pick<Reference, "host" | "path" | "name"> | undefined {
  if (name.length > longestName) return undefined;
  const [first = "", ...others] = name.split("/");
  // A first part is a host when it looks like one: a dot, a port, or localhost.
  const hasHost = others.length > 0 && (/[.:[\]A-Z]/.test(first) || first === "localhost");
  const host = hasHost ? first : undefined;
  const path = hasHost ? others.join("/") : name;
  if (!pathShape.test(path) || (host !== undefined && !hostShape.test(host))) return undefined;
  return { host, path, name };
}
