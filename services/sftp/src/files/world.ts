// The world of one server by the operations of the external face (docs/reference/files.md#operations), with the token of a session.

import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, createClient } from "@svc/client";
import { exports, files, uploads } from "@svc/proto";
import type { NamedEntry } from "../protocol/replies.ts";
import { folderOf, isBusy, nameOf } from "./rules.ts";
import type { Spool } from "./spool.ts";

/** Largest file that is read, and written, in one message. */
const readAtOnce = 1_048_576;
export const writeAtOnce = 256 * 1_024;
const uploadAtOnce = 8 * 1_048_576;
const mostParts = 1_000;

/** A listing is a Job: clients ask about each name of a folder, and are answered from the same one for a moment. */
const keepListingMs = 3_000;
const pollMs = 300;
/** How long somebody waits while they have too much in progress already, or the world is in use. */
const busyForMs = 60_000;

/** Entries of a folder by name, from a name on. */
export type Page = { from: string; entries: NamedEntry[]; hasMore: boolean };

/** Whether a page says if there is an entry of that name. */
function covers({ from, entries, hasMore }: Page, wanted: string): boolean {
  return wanted >= from && (!hasMore || wanted <= (entries.at(-1)?.name ?? ""));
}

export type World = ReturnType<typeof createWorld>;

type Options = { externalUrl: string; server: string; secret: string; address: string; signal: AbortSignal };

export function createWorld(options: Options) {
  const { server: name, signal } = options;
  const client = createClient({
    baseUrl: options.externalUrl,
    headers: { authorization: `Bearer ${options.secret}`, "x-forwarded-for": options.address },
  });
  const asking = { signal };
  const ask = <T>(work: () => Promise<T>) => untilNotBusy(work, signal);
  let kept: (Page & { path: string; until: number }) | undefined;

  const list = async (path: string, from?: string): Promise<Page> => {
    const query = { name, path, ...(from !== undefined && { from }) };
    const { entries, truncated } = await ask(() => client.call(files.list, query, asking));
    const page = { from: from ?? "", entries: entries.map(entryOf), hasMore: truncated };
    kept = { ...page, path, until: Date.now() + keepListingMs };
    return page;
  };
  const find = async (path: string): Promise<NamedEntry | undefined> => {
    const [folder, wanted] = [folderOf(path), nameOf(path)];
    const isKept = kept?.path === folder && kept.until > Date.now() && covers(kept, wanted);
    let page: Page = isKept && kept ? kept : await list(folder);
    if (!covers(page, wanted)) page = await list(folder, wanted);
    return page.entries.find((entry) => entry.name === wanted);
  };
  const change = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await ask(work);
    } finally {
      kept = undefined;
    }
  };

  return {
    /** One page of a folder; `from`: the last name of the page before, which is not in this one. */
    list: async (path: string, from?: string): Promise<Page> => {
      const page = await list(path, from);
      return { ...page, entries: page.entries.filter((entry) => entry.name !== from) };
    },
    /** The entry at a path; undefined when there is none. Throws what listing its folder throws. */
    find: async (path: string): Promise<NamedEntry | undefined> =>
      path === "" ? { name: "", isFolder: true, size: 0, changedAt: new Date(0) } : find(path),
    makeFolder: (path: string) => change(() => client.call(files.makeFolder, { name, path }, asking)),
    /** Removes what is there if it is what `only` says. */
    remove: (path: string, only: "file" | "empty_folder") =>
      change(() => client.call(files.remove, { name, path, only }, asking)),
    rename: (path: string, to: string) => change(() => client.call(files.rename, { name, path, to }, asking)),
    /** The content of a file of up to 1 MiB, and the digest of what is stored. */
    read: async (path: string) => {
      const { content, sha256 } = await ask(() => client.call(files.read, { name, path }, asking));
      return { content: Buffer.from(content, "base64"), sha256 };
    },
    isSmall: (size: number) => size <= readAtOnce,
    /** The content of a larger file, once. */
    download: async (path: string, stopped: AbortSignal): Promise<AsyncIterable<Uint8Array>> => {
      const asking = { signal: AbortSignal.any([signal, stopped]) };
      const { ticket } = await ask(() =>
        client.call(exports.startFile, { name, path, dir: "false" }, asking),
      );
      for (;;) {
        const { state, message } = await ask(() => client.call(exports.readStatus, { ticket }, asking));
        if (state === "failed") throw new Error(message ?? "The download failed; try again.");
        if (state === "ready") break;
        await sleep(pollMs, undefined, asking);
      }
      const { body } = await client.open(exports.download, { ticket }, asking);
      if (!body) throw new Error("The download was empty; try again.");
      return body as AsyncIterable<Uint8Array>;
    },
    /** Puts what was written into the world, whole or not at all. */
    store: (path: string, spool: Spool, how: StoreMode) =>
      change(() => store({ client, name, asking, ask }, { path, spool, how })),
    /** Throws unless the session still has the right to be here. Starts no Job. */
    check: () => client.call(files.listOperations, { name }, asking),
  };
}

/** `expected`: the digest that the file must still have. */
export type StoreMode = { mode: "replace" | "create" } | { mode: "edit"; expected: string };

type Sending = {
  client: ReturnType<typeof createClient>;
  name: string;
  asking: { signal: AbortSignal };
  ask: <T>(work: () => Promise<T>) => Promise<T>;
};
type Written = { path: string; spool: Spool; how: StoreMode };

async function store(sending: Sending, { path, spool, how }: Written): Promise<void> {
  const { client, name, asking } = sending;
  const size = spool.size();
  if (size > writeAtOnce) {
    if (how.mode === "edit") throw new Error("Files over 256 KiB are only replaced whole.");
    if (size > uploadAtOnce) return uploadParts(sending, { path, spool, how });
    const bytes = new Uint8Array(await spool.read(0, size));
    const head = { content_digest: digestOf(bytes), content_length: size };
    const overwrite = how.mode === "replace" ? "true" : "false";
    await client.open(uploads.upload, { name, path, overwrite, ...head }, { ...asking, ...octets(bytes) });
    return;
  }
  const bytes = await spool.read(0, size);
  const guard =
    how.mode === "edit" ? { expect_sha256: how.expected } : { create_only: how.mode === "create" };
  const content = { content: bytes.toString("base64"), content_sha256: hash("sha256", bytes) };
  await client.call(files.write, { name, path, ...content, ...guard }, asking);
}

async function uploadParts(sending: Sending, { path, spool, how }: Written): Promise<void> {
  const { client, name, asking, ask } = sending;
  const size = spool.size();
  const { id, part_max_bytes: most } = await client.call(uploads.begin, { name, path, size }, asking);
  try {
    const part = Math.min(most, Math.max(uploadAtOnce, Math.ceil(size / mostParts)));
    for (let offset = 0; offset < size; offset += part) {
      const bytes = new Uint8Array(await spool.read(offset, part));
      const head = { content_digest: digestOf(bytes), content_length: bytes.length };
      await client.open(uploads.putPart, { name, id, offset, ...head }, { ...asking, ...octets(bytes) });
    }
    const overwrite = how.mode === "replace";
    const { op } = await ask(() => client.call(uploads.commit, { name, id, overwrite }, asking));
    await committed(sending, op.id);
  } catch (error) {
    // Space is reserved until then; the connection may be gone, and this must still happen.
    await client.call(uploads.cancel, { name, id }).catch(() => undefined);
    throw error;
  }
}

async function committed({ client, name, asking, ask }: Sending, id: string): Promise<void> {
  for (;;) {
    const { ops } = await ask(() => client.call(files.listOperations, { name }, asking));
    const op = ops.find((one) => one.id === id);
    if (op?.state === "succeeded") return;
    if (op?.state === "failed") throw new Error(op.error?.message ?? "The upload failed; try again.");
    await sleep(pollMs, undefined, asking);
  }
}

function entryOf(entry: files.FileEntry): NamedEntry {
  const { name, size, is_dir: isFolder, mod_time } = entry;
  return { name, isFolder, size, changedAt: new Date(mod_time) };
}

async function untilNotBusy<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const until = Date.now() + busyForMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const retryMs = error instanceof ApiError ? (error.retryAfterSeconds ?? 2) * 1_000 : 0;
      if (!(error instanceof ApiError) || !isBusy(error) || Date.now() + retryMs > until) throw error;
      await sleep(retryMs, undefined, { signal });
    }
  }
}

const octets = (body: Uint8Array<ArrayBuffer>) => ({
  body,
  headers: { "content-type": "application/octet-stream" },
});

function digestOf(bytes: Uint8Array): string {
  return `sha-256=:${hash("sha256", bytes, "base64")}:`;
}
