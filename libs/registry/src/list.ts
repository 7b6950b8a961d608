import { z } from "zod";
import { malformed } from "./error.ts";
import { readBody, type Transport } from "./transport.ts";

const usualPageEntries = 1_000;
const pageBytes = 4 << 20;
/** A million names; a registry that names more, or the same page again and again, is given up. */
const mostPages = 1_000;

const Page = z.object({ repositories: z.array(z.string()).nullish(), tags: z.array(z.string()).nullish() });

type Listing = {
  path: string;
  field: "repositories" | "tags";
  pageEntries: number | undefined;
  signal: AbortSignal | undefined;
};

/** All names of a paged list, sorted; none for a repository that does not exist. */
export async function listAll(
  transport: Transport,
  { path, field, pageEntries = usualPageEntries, signal }: Listing,
): Promise<string[]> {
  const names = new Set<string>();
  let query = `?n=${pageEntries}`;
  for (let pages = 0; pages < mostPages; pages += 1) {
    const answer = await transport.send({ method: "GET", path: `${path}${query}`, signal }, [200, 404]);
    const body = await readBody(answer, pageBytes, signal);
    if (answer.status === 404) return [];
    for (const name of parsePage(body)[field] ?? []) names.add(name);
    const next = nextQuery(answer.headers["link"]);
    if (next === undefined) return [...names].sort();
    query = next;
  }
  throw malformed(`the registry lists more than ${mostPages} pages of ${path}`);
}

function parsePage(body: Buffer): z.output<typeof Page> {
  try {
    return Page.parse(JSON.parse(body.toString("utf8")));
  } catch {
    throw malformed("the registry sent an invalid list");
  }
}

// Only the query counts: the page after this one is on the same registry.
function nextQuery(link: string | string[] | undefined): string | undefined {
  const next = /^<([^<>]*)>; ?rel="?next"?$/.exec(String(link ?? ""))?.[1] ?? "";
  return next.includes("?") ? next.slice(next.indexOf("?")) : undefined;
}
