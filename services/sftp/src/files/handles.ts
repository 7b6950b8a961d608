// Files and folders that a client has open. A file that is written is put into the world when it is closed, and only then.

import type { NamedEntry } from "../protocol/replies.ts";
import { decideOpen, type Found } from "./rules.ts";
import { openSpool, type Room, type Spool } from "./spool.ts";
import { type StoreMode, type World, writeAtOnce } from "./world.ts";

/** A refusal that is decided here, with its status. */
export class Refusal extends Error {
  override name = "Refusal";
  readonly status:
    | "noSuchFile"
    | "permissionDenied"
    | "failure"
    | "eof"
    | "unsupported"
    | "badMessage"
    | "ok";
  constructor(status: Refusal["status"], message: string) {
    super(message);
    this.status = status;
  }
}

export type OpenFile = {
  /** At most `length` bytes; none at the end. */
  read: (offset: number, length: number) => Promise<Buffer>;
  write: (offset: number, data: Buffer) => Promise<void>;
  truncate: (size: number) => Promise<void>;
  size: () => number;
  changedAt: Date;
  /** Puts what was written into the world. */
  commit: () => Promise<void>;
  discard: () => Promise<void>;
};

type Place = { world: World; room: Room; dir: string };

/** Opens a file as its flags say. Throws `Refusal`, and what the world refuses. */
export async function openFile(
  place: Place,
  { path, flags }: { path: string; flags: number },
): Promise<OpenFile> {
  const entry = await place.world.find(path).catch((error: unknown) => {
    if (isNotShared(error)) return "unknown" as const;
    throw error;
  });
  const plan = decideOpen(flags, foundOf(entry));
  if (plan.does === "refuse") throw new Refusal(plan.status as Refusal["status"], plan.why);
  const spool = await openSpool(place);
  try {
    const known = typeof entry === "object" ? entry : undefined;
    if (plan.does === "read") return await reading(place, { path, spool, entry: known });
    return await writing(place, { path, spool, plan });
  } catch (error) {
    await spool[Symbol.asyncDispose]();
    throw error;
  }
}

export function isNotShared(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "path_not_shared";
}

function foundOf(entry: NamedEntry | "unknown" | undefined): Found {
  if (entry === "unknown") return "unknown";
  if (!entry) return "nothing";
  return entry.isFolder ? "folder" : "file";
}

type Reading = { path: string; spool: Spool; entry: NamedEntry | undefined };

async function reading({ world }: Place, { path, spool, entry }: Reading): Promise<OpenFile> {
  const refuse = async () => {
    throw new Refusal("permissionDenied", "The file was opened to be read.");
  };
  const isSmall = !entry || world.isSmall(entry.size);
  if (isSmall) await spool.write(0, (await world.read(path)).content);
  const stopped = new AbortController();
  const filling = isSmall ? undefined : fill(spool, await world.download(path, stopped.signal));
  return {
    read: async (offset, length) => {
      await filling?.until(offset + length);
      return spool.read(offset, length);
    },
    write: refuse,
    truncate: refuse,
    size: () => (isSmall ? spool.size() : (entry?.size ?? 0)),
    changedAt: entry?.changedAt ?? new Date(0),
    commit: async () => undefined,
    discard: async () => {
      stopped.abort();
      await filling?.ended;
      await spool[Symbol.asyncDispose]();
    },
  };
}

/** Writes a stream into a spool while others wait for parts of it. */
function fill(spool: Spool, stream: AsyncIterable<Uint8Array>) {
  let arrived = Promise.withResolvers<void>();
  let end: { error?: unknown } | undefined;
  const run = async () => {
    for await (const chunk of stream) {
      await spool.write(spool.size(), chunk);
      arrived.resolve();
      arrived = Promise.withResolvers();
    }
  };
  const ended = run().then(
    () => {
      end = {};
      arrived.resolve();
    },
    (error: unknown) => {
      end = { error };
      arrived.resolve();
    },
  );
  return {
    until: async (size: number) => {
      while (spool.size() < size && !end) await arrived.promise;
      // A download that broke off is never mistaken for a file that ended.
      if (end?.error !== undefined && spool.size() < size) throw end.error;
    },
    ended,
  };
}

type Writing = {
  path: string;
  spool: Spool;
  plan: { mode: "replace" | "create" | "edit"; isAppend: boolean };
};

async function writing({ world }: Place, { path, spool, plan }: Writing): Promise<OpenFile> {
  const how: StoreMode =
    plan.mode === "edit" ? { mode: "edit", expected: await load(world, path, spool) } : { mode: plan.mode };
  return {
    read: (offset, length) => spool.read(offset, length),
    write: (offset, data) => spool.write(plan.isAppend ? spool.size() : offset, data),
    truncate: (size) => spool.truncate(size),
    size: () => spool.size(),
    changedAt: new Date(),
    commit: () => world.store(path, spool, how),
    discard: async () => spool[Symbol.asyncDispose](),
  };
}

/** What is there is changed in part, and must still be the same when it is put back. */
async function load(world: World, path: string, spool: Spool): Promise<string> {
  const { content, sha256 } = await world.read(path).catch((error: unknown) => {
    const isLarge = error instanceof Error && "code" in error && error.code === "too_large";
    throw isLarge ? tooLarge() : error;
  });
  if (content.length > writeAtOnce) throw tooLarge();
  await spool.write(0, content);
  return sha256;
}

const tooLarge = () => new Refusal("failure", "Files over 256 KiB are only replaced whole; send all of it.");
