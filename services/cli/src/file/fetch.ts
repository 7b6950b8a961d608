import { files } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { type Outcome, UsageError } from "../output.ts";
import { awaitOperation } from "./await-operation.ts";
import { printable } from "./printable.ts";
import { within } from "./target.ts";

type Wanted = { server: string; url: string; path: string };

/** Fetches a file from an allowed address; it appears complete or not at all. */
export async function fetchFile(
  { server: name, url, path }: Wanted,
  { data, sha256, overwrite = false }: { data: string; sha256?: string; overwrite?: boolean },
): Promise<Outcome> {
  const target = within(path, path.endsWith("/") ? nameIn(url) : "");
  const external = connectExternal(data);
  const about = { name, path: target, url, overwrite, ...(sha256 !== undefined && { sha256 }) };
  const { op } = await external.call(files.fetch, about);
  const ended = await awaitOperation(external, name, op.id);
  return { json: ended, text: `${printable(op.path)} is in the world of ${name}.` };
}

/** The last name of the path of an address. */
function nameIn(url: string): string {
  const last = URL.canParse(url) ? new URL(url).pathname.split("/").at(-1) : "";
  if (last) return decodeURIComponent(last);
  throw new UsageError(`${url} names no file; say which one it is to be in the world`);
}
