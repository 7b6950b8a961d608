import { createHash } from "node:crypto";
import { open, readFile, stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { uploads } from "@svc/proto";
import { connectExternal, type External } from "../account/external.ts";
import { isCode } from "../account/refusal.ts";
import { callerDir } from "../config.ts";
import { CommandError, type Outcome, sizeText } from "../output.ts";
import { awaitOperation } from "./await-operation.ts";
import { within } from "./target.ts";

type Given = { server: string; file: string; path: string };

/** Uploads a file, in parts when it is large; it appears complete or not at all. */
export async function putFile(
  { server: name, file, path }: Given,
  { data, overwrite = false }: { data: string; overwrite?: boolean },
): Promise<Outcome> {
  const source = resolve(callerDir, file);
  const about = await stat(source);
  if (!about.isFile())
    throw new CommandError(`${source} is not a file; zip a folder, put the zip and unzip it there`);
  const target = within(path, basename(source));
  const external = connectExternal(data);
  const sending = { name, source, path: target, size: about.size, overwrite };
  try {
    if (about.size <= uploads.singleUploadBytes) await sendWhole(external, sending);
    else await sendParts(external, sending);
  } catch (error) {
    throw withWayOut(error, { name, target });
  }
  const json = { path: target, size: about.size, status: "uploaded" };
  return { json, text: `${target} (${sizeText(about.size)}) is in the world of ${name}.` };
}

/** The refusals that an option or another command gets around say so. */
export function withWayOut(error: unknown, { name, target }: { name: string; target: string }): unknown {
  const folder = target.replace(/^\/+/, "").split("/").slice(0, -1).join("/");
  const [missing = ""] = error instanceof Error ? error.message.split(" does not exist.") : [];
  const way = isCode(error, "file_exists")
    ? "replace it with --overwrite"
    : isCode(error, "not_found") && `${folder}/`.startsWith(`${missing}/`)
      ? `make folders with: \`svc files mkdir ${name} ${missing}\``
      : undefined;
  return way === undefined ? error : new CommandError(`${(error as Error).message}; ${way}`);
}

type Sending = { name: string; source: string; path: string; size: number; overwrite: boolean };
const octets = { "content-type": "application/octet-stream" };

async function sendWhole(external: External, { name, source, path, overwrite }: Sending): Promise<void> {
  const body = await readFile(source);
  const input = {
    ...{ name, path, content_digest: digestOf(body), content_length: body.length },
    overwrite: overwrite ? ("true" as const) : ("false" as const),
  };
  const response = await external.open(uploads.upload, input, { body, headers: octets });
  await response.body?.cancel();
}

async function sendParts(
  external: External,
  { name, source, path, size, overwrite }: Sending,
): Promise<void> {
  const { id, part_max_bytes } = await external.call(uploads.begin, { name, path, size });
  const handle = await open(source);
  try {
    for (let offset = 0; offset < size; ) {
      const part = Buffer.alloc(Math.min(part_max_bytes, size - offset));
      const { bytesRead } = await handle.read(part, 0, part.length, offset);
      if (bytesRead < part.length) throw new CommandError(`${source} became shorter while it was read`);
      const input = { name, id, offset, content_digest: digestOf(part), content_length: part.length };
      const response = await external.open(uploads.putPart, input, { body: part, headers: octets });
      await response.body?.cancel();
      offset += part.length;
      process.stderr.write(`${sizeText(offset)} of ${sizeText(size)}\n`);
    }
    const { op } = await external.call(uploads.commit, { name, id, overwrite });
    await awaitOperation(external, name, op.id);
  } catch (error) {
    await external.call(uploads.cancel, { name, id }).catch(() => undefined);
    throw error;
  } finally {
    await handle.close();
  }
}

function digestOf(bytes: Buffer): string {
  return `sha-256=:${createHash("sha256").update(bytes).digest("base64")}:`;
}
