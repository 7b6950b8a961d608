import { existsSync, renameSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { setTimeout as sleep } from "node:timers/promises";
import { exports } from "@svc/proto";
import { connectExternal, type External } from "../account/external.ts";
import { callerDir } from "../config.ts";
import { CommandError, type Outcome, sizeText } from "../output.ts";

type Wanted = { server: string; path: string; file?: string | undefined };

/** Downloads a file completely or not at all; an existing local file is kept unless `force` is set. */
export async function getFile(
  { server, path, file }: Wanted,
  { data, force = false }: { data: string; force?: boolean },
): Promise<Outcome> {
  const external = connectExternal(data);
  const dir = path.endsWith("/");
  const about = { name: server, path: dir ? path.slice(0, -1) : path, dir: dir ? "true" : "false" } as const;
  const target =
    file === "-" ? undefined : resolve(callerDir, file ?? `${basename(about.path)}${dir ? ".zip" : ""}`);
  if (target !== undefined && existsSync(target) && !force)
    throw new CommandError(`${target} already exists; name another file or add --force`);
  const { ticket } = await external.call(exports.startFile, about);
  await awaitReady(external, ticket);
  const { body } = await external.open(exports.download, { ticket });
  if (!body) throw new CommandError("the download was empty; try again");
  const bytes = Readable.fromWeb(body as ReadableStream);
  if (target === undefined) {
    await pipeline(bytes, process.stdout, { end: false });
    process.exit(0);
  }
  const size = await save(bytes, target);
  return { json: { file: target, size }, text: `${target} (${sizeText(size)})` };
}

async function save(bytes: Readable, target: string): Promise<number> {
  const partial = `${target}.part-${process.pid}`;
  // Opened first: a file that its stream has yet to open could appear after it was removed.
  const sink = (await open(partial, "wx")).createWriteStream();
  try {
    await pipeline(bytes, sink);
    renameSync(partial, target);
    return sink.bytesWritten;
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

const pollMs = 300;

async function awaitReady(external: External, ticket: string): Promise<void> {
  for (;;) {
    const { state, message } = await external.call(exports.readStatus, { ticket });
    if (state === "ready") return;
    if (state === "failed") throw new CommandError(`the download failed: ${message ?? "try again"}`);
    await sleep(pollMs);
  }
}
