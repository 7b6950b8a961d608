// Turns an uploaded zip into a context: a Dockerfile, the plan of its downloads, and the files that it brings. What comes out
// is checked, reviewed and built like a context that somebody uploaded.

import { createHash } from "node:crypto";
import { Fault, packs, submissions } from "@svc/proto";
import {
  contextLimits,
  isWorldFault,
  type NewContextFile,
  type OpenZip,
  openZip,
  writeContext,
} from "@svc/world";
import type { Settings } from "../config.ts";
import { readParts } from "../context/check.ts";
import { withScratchFile } from "../context/scratch.ts";
import { type ContextStore, newBlobName } from "../context/store.ts";
import type { Blob } from "../database.ts";
import { planPack } from "./plan.ts";
import { formatOf, indexFiles, refuse } from "./source.ts";

type ConvertedPack = { plan: packs.PackPlan; parts: Blob[] };

type Converting = {
  contexts: Pick<ContextStore, "put" | "read" | "remove">;
  settings: Settings;
  /** Takes room for so many bytes. */
  reserve: (bytes: number) => Promise<void>;
};
type Staged = { id: string; parts: readonly Blob[] };

const zipMagic = Buffer.from("PK");
const mostIndexBytes = 8 << 20;
/** What the zip of the same files may be shorter by than the context. */
const overheadBytes = 4 << 20;

/** Undefined for what is not a zip. Throws `bad_request`, which names what is wrong with the pack, and the faults of the limits. */
export async function convertPack(
  about: Converting,
  staged: Staged,
  signal: AbortSignal,
): Promise<ConvertedPack | undefined> {
  if (!(await isZip(about, staged, signal))) return undefined;
  const bytes = staged.parts.reduce((sum, { size }) => sum + size, 0);
  const { pack_max_bytes: most } = about.settings.builds;
  if (bytes > most) throw refuse(`A pack without a Dockerfile may have at most ${most} bytes.`);
  await about.reserve(bytes + overheadBytes);
  const hash = createHash("sha256");
  const hashed = async function* () {
    for await (const chunk of readParts(about.contexts, staged.parts, signal)) {
      hash.update(chunk);
      yield Buffer.from(chunk);
    }
  };
  try {
    return await withScratchFile(hashed(), async (file) => {
      const zip = await openZip(file, about.settings.builds.context_entries);
      const { plan, files } = await planZip(zip, about.settings, hash.digest("hex"));
      const most = Math.min(bytes + overheadBytes, about.settings.registry.context_max_bytes);
      return { plan, parts: await storeParts(about.contexts, { id: staged.id, most }, { files, signal }) };
    });
  } catch (error) {
    throw isWorldFault(error) ? new Fault("bad_request", { message: error.message, cause: error }) : error;
  }
}

async function isZip({ contexts }: Converting, { parts }: Staged, signal: AbortSignal): Promise<boolean> {
  let head = Buffer.alloc(0);
  for await (const chunk of readParts(contexts, parts, signal)) {
    head = Buffer.concat([head, chunk.subarray(0, zipMagic.length)]);
    if (head.length >= zipMagic.length) break;
  }
  return head.subarray(0, zipMagic.length).equals(zipMagic);
}

async function planZip(zip: OpenZip, settings: Settings, sourceSha256: string) {
  const entries = new Map(zip.entries.filter(({ kind }) => kind === "file").map((one) => [one.path, one]));
  assertNoBomb(zip, settings.builds.context_bytes);
  const format = formatOf(new Set(entries.keys()));
  const index = entries.get(indexFiles[format]);
  if (!index || index.size > mostIndexBytes)
    throw refuse(`${indexFiles[format]} may have at most ${mostIndexBytes} bytes.`);
  const given = {
    format,
    index: await textOf(zip.content(index)),
    packed: [...entries.values()],
    sourceSha256,
  };
  const { plan, dockerfile, files } = planPack(given, settings);
  const made: NewContextFile[] = [
    fileOf("Dockerfile", dockerfile),
    fileOf(packs.packFiles.plan, `${JSON.stringify(plan, null, 1)}\n`),
  ];
  for (const { path, from } of files) {
    const entry = entries.get(from);
    if (!entry) throw new Error(`${from} is not in the zip`);
    const isExecutable = (entry.mode & 0o111) !== 0;
    made.push({ path, isExecutable, size: entry.size, content: () => zip.content(entry) });
  }
  return { plan, files: made };
}

function assertNoBomb({ entries }: OpenZip, most: number): void {
  const { ratio, freeBytes } = contextLimits;
  const plain = entries.reduce((sum, { size }) => sum + size, 0);
  const packed = entries.reduce((sum, { packedSize }) => sum + packedSize, 0);
  if (plain > most) throw refuse(`The archive has more than ${most} bytes when it is unpacked.`);
  if (plain > freeBytes + ratio * packed)
    throw refuse(`The archive unpacks to more than ${ratio} times its size.`);
}

function fileOf(path: string, text: string): NewContextFile {
  const bytes = Buffer.from(text);
  const content = async function* () {
    yield bytes;
  };
  return { path, isExecutable: false, size: bytes.length, content };
}

async function textOf(content: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(Buffer.from(chunk));
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    throw new Fault("bad_request", { message: "The index of the pack is not UTF-8.", cause: error });
  }
}

type Target = { id: string; most: number };

/** Stores a context in parts like those of an upload; keeps none of them when it fails. */
async function storeParts(
  contexts: Pick<ContextStore, "put" | "remove">,
  { id, most }: Target,
  { files, signal }: { files: readonly NewContextFile[]; signal: AbortSignal },
): Promise<Blob[]> {
  const source = writeContext(files)[Symbol.asyncIterator]();
  const parts: Blob[] = [];
  let total = 0;
  try {
    let next = await source.next();
    while (!next.done) {
      const part = { name: newBlobName(id, "part"), size: 0 };
      parts.push(part);
      const body = async function* () {
        while (!next.done && part.size + next.value.length <= submissions.contextPartBytes) {
          part.size += next.value.length;
          total += next.value.length;
          if (total > most) throw refuse(`The context of the pack is longer than ${most} bytes.`);
          yield next.value;
          next = await source.next();
        }
      };
      await contexts.put(part.name, body(), signal);
    }
    return parts;
  } catch (error) {
    await contexts.remove(parts.map(({ name }) => name)).catch(() => {});
    throw error;
  } finally {
    await source.return?.();
  }
}
