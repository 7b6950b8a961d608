// `db.dump`: what pg_restore reads, beside the rows (docs/reference/database-backups.md#format).

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";

export const dumpMember = "db.dump";

const run = promisify(execFile);

/** Version of the `pg_dump` on this PATH, such as 18.4, where it is of the server's major version. */
export async function findDump(path: string | undefined, server: string): Promise<string | undefined> {
  if (!path) return undefined;
  try {
    const { stdout } = await run("pg_dump", ["--version"], { env: { PATH: path } });
    const version = / (\d+(\.\d+)*)/.exec(stdout)?.[1];
    return version?.split(".")[0] === server.split(".")[0] ? version : undefined;
  } catch {
    return undefined;
  }
}

type DumpRequest = {
  /** PATH that has `pg_dump`. */
  path: string;
  url: string;
  /** Id of the snapshot whose rows it has. */
  snapshot: string;
  schemas: readonly string[];
};

/** A dump in the custom format. Throws with what `pg_dump` says when it fails, at the end of its bytes. */
export async function* dumpOf({ path, url, snapshot, schemas }: DumpRequest): AsyncGenerator<Buffer> {
  const target = new URL(url);
  const password = decodeURIComponent(target.password);
  // The arguments of a process are seen by everybody.
  target.password = "";
  const only = schemas.map((schema) => `--schema=${schema}`);
  const args = ["--format=custom", "--no-password", `--snapshot=${snapshot}`, ...only, target.href];
  const child = spawn("pg_dump", args, {
    env: { PATH: path, PGPASSWORD: password },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  ended.catch(() => undefined);
  const said = text(child.stderr);
  try {
    yield* child.stdout as AsyncIterable<Buffer>;
    const [code] = (await ended) as [number | null];
    if (code !== 0) throw new Error((await said).trim().split("\n").at(-1) || `pg_dump ended with ${code}`);
  } finally {
    child.kill();
  }
}
