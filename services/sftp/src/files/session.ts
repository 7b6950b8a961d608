// Answers the requests of one connection, one after the other (docs/reference/sftp.md#operations).

import { randomUUID } from "node:crypto";
import { ApiError } from "@svc/client";
import {
  attributesReply,
  dataReply,
  entriesReply,
  handleReply,
  type NamedEntry,
  pathReply,
  type Status,
  statusReply,
  versionReply,
} from "../protocol/replies.ts";
import type { Kind, Request } from "../protocol/requests.ts";
import { isNotShared, type OpenFile, openFile, Refusal } from "./handles.ts";
import { decideNotRemoved, decideRefusal, nameOf, shownPath, worldPath } from "./rules.ts";
import { type Room, SpoolFull } from "./spool.ts";
import type { Page, World } from "./world.ts";

/** Files and folders that one connection may have open. */
const mostHandles = 64;
const largestRead = 128 * 1_024;
/** Names in one answer. */
const namesAtOnce = 100;

/** What of a folder was not answered yet; `next`: the name after which more are to be listed. */
type OpenFolder = { path: string; entries: readonly NamedEntry[]; next: string | undefined };
type Handle = { file: OpenFile } | { folder: OpenFolder };

export type Outcome = "ok" | "refused" | "failed";
export type FileSession = {
  answer: (request: Request) => Promise<Buffer>;
  /** Drops what was not closed: nothing of it reaches the world. */
  discard: () => Promise<void>;
};

type Options = {
  world: World;
  room: Room;
  dir: string;
  /** Something went wrong in a way that the client may not show; a sentence for people. */
  say: (message: string) => void;
  onOperation: (kind: Kind, outcome: Outcome) => void;
  /** The session has no right to anything any more. */
  onEnded: () => void;
  onError: (error: unknown) => void;
};

export function createFileSession(options: Options): FileSession {
  const handles = new Map<string, Handle>();
  const answers = answersOf(options, handles);
  return {
    answer: async (request) => {
      if (request.kind === "init") return versionReply();
      const { id } = request;
      if (request.kind === "unsupported")
        return statusReply(id, "unsupported", "This is not supported here.");
      if (request.kind === "bad") return statusReply(id, "badMessage", request.why);
      try {
        const answer = answers[request.kind] as (request: Request) => Promise<Buffer>;
        const reply = await answer(request);
        options.onOperation(request.kind, "ok");
        return reply;
      } catch (error) {
        const { status, message, outcome } = refusalOf(error, options);
        if (status !== "eof") options.onOperation(request.kind, outcome);
        if (status === "failure" || status === "permissionDenied") options.say(message);
        return statusReply(id, status, message);
      }
    },
    discard: async () => {
      const open = [...handles.values()];
      handles.clear();
      for (const handle of open) if ("file" in handle) await handle.file.discard();
    },
  };
}

type Refused = { status: Status; message: string; outcome: Outcome };

function refusalOf(error: unknown, { onEnded, onError }: Options): Refused {
  if (error instanceof Refusal) return { status: error.status, message: error.message, outcome: "refused" };
  if (error instanceof SpoolFull) return { status: "failure", message: error.message, outcome: "refused" };
  if (error instanceof ApiError) {
    const { status, ends } = decideRefusal(error);
    if (ends) onEnded();
    return { status, message: error.message, outcome: error.status >= 500 ? "failed" : "refused" };
  }
  onError(error);
  const message = "The platform cannot be reached, or the transfer broke off; try again.";
  return { status: "failure", message, outcome: "failed" };
}

type Answers = { [K in Kind]: (request: Extract<Request, { kind: K }>) => Promise<Buffer> };

function answersOf(options: Options, handles: Map<string, Handle>): Answers {
  return { ...handleAnswers(options, handles), ...pathAnswers(options) };
}

function handleAnswers(options: Options, handles: Map<string, Handle>) {
  const { world } = options;
  const keep = (handle: Handle) => {
    const name = randomUUID();
    handles.set(name, handle);
    return name;
  };
  const assertRoom = () => {
    if (handles.size >= mostHandles)
      throw new Refusal("failure", "Too many files are open; close some first.");
  };
  const get = (name: string) => {
    const handle = handles.get(name);
    if (!handle) throw new Refusal("failure", "The handle is unknown.");
    return handle;
  };
  const fileOf = (name: string) => {
    const handle = get(name);
    if ("file" in handle) return handle.file;
    throw new Refusal("failure", "The handle is that of a folder.");
  };
  return {
    open: async ({ id, path, flags }) => {
      assertRoom();
      const file = await openFile(options, { path: worldPath(path), flags });
      return handleReply(id, keep({ file }));
    },
    opendir: async ({ id, path }) => {
      assertRoom();
      const folder = openFolderOf(worldPath(path), await world.list(worldPath(path)));
      return handleReply(id, keep({ folder }));
    },
    readdir: async ({ id, handle: name }) => {
      const handle = get(name);
      if (!("folder" in handle)) throw new Refusal("failure", "The handle is that of a file.");
      const { folder } = handle;
      if (folder.entries.length === 0 && folder.next !== undefined)
        Object.assign(folder, openFolderOf(folder.path, await world.list(folder.path, folder.next)));
      const entries = folder.entries.slice(0, namesAtOnce);
      if (entries.length === 0) throw new Refusal("eof", "");
      folder.entries = folder.entries.slice(entries.length);
      return entriesReply(id, entries);
    },
    read: async ({ id, handle, offset, length }) => {
      const data = await fileOf(handle).read(offset, Math.min(length, largestRead));
      if (data.length === 0 && length > 0) throw new Refusal("eof", "");
      return dataReply(id, data);
    },
    write: async ({ id, handle, offset, data }) => {
      await fileOf(handle).write(offset, data);
      return statusReply(id, "ok");
    },
    fstat: async ({ id, handle: name }) => {
      const handle = get(name);
      if ("folder" in handle) return attributesReply(id, folderAttributes);
      const { file } = handle;
      return attributesReply(id, { isFolder: false, size: file.size(), changedAt: file.changedAt });
    },
    fsetstat: async ({ id, handle, attributes: { size } }) => {
      if (size !== undefined) await fileOf(handle).truncate(size);
      return statusReply(id, "ok");
    },
    close: async ({ id, handle: name }) => {
      const handle = get(name);
      handles.delete(name);
      if ("folder" in handle) return statusReply(id, "ok");
      try {
        await handle.file.commit();
      } finally {
        await handle.file.discard();
      }
      return statusReply(id, "ok");
    },
  } satisfies Partial<Answers>;
}

function openFolderOf(path: string, { entries, hasMore }: Page): OpenFolder {
  return { path, entries, next: hasMore ? entries.at(-1)?.name : undefined };
}

const folderAttributes = { isFolder: true, size: 0, changedAt: new Date(0) };

function pathAnswers({ world }: Options) {
  /** What stands at a path; folders on the way to what is shared with a member are there although nobody may list them. */
  const find = async (path: string): Promise<NamedEntry> => {
    const entry = await world.find(path).catch(async (error: unknown) => {
      if (!isNotShared(error)) throw error;
      await world.list(path);
      return { ...folderAttributes, name: nameOf(path) };
    });
    if (!entry) throw new Refusal("noSuchFile", "There is no such file or folder.");
    return entry;
  };
  const stat = async ({ id, path }: { id: number; path: string }) =>
    attributesReply(id, await find(worldPath(path)));
  return {
    stat,
    lstat: stat,
    // Clients set times and modes after a transfer; the world keeps its own.
    setstat: async ({ id, path, attributes: { size } }) => {
      if (size !== undefined) throw new Refusal("unsupported", "Open the file to change its length.");
      await find(worldPath(path));
      return statusReply(id, "ok");
    },
    realpath: async ({ id, path }) => pathReply(id, shownPath(path)),
    mkdir: async ({ id, path }) => {
      await world.makeFolder(worldPath(path));
      return statusReply(id, "ok");
    },
    remove: async ({ id, path }) => {
      await remove(world, worldPath(path), "file");
      return statusReply(id, "ok");
    },
    rmdir: async ({ id, path: given }) => {
      const path = worldPath(given);
      if (path === "") throw new Refusal("permissionDenied", "The world's root cannot be deleted.");
      await remove(world, path, "empty_folder");
      return statusReply(id, "ok");
    },
    rename: async ({ id, path, to }) => {
      await world.rename(worldPath(path), worldPath(to));
      return statusReply(id, "ok");
    },
  } satisfies Partial<Answers>;
}

/** Version 3 has no status for a folder where a file was meant, or the other way round: a failure that says so, as OpenSSH answers. */
async function remove(world: World, path: string, only: "file" | "empty_folder"): Promise<void> {
  await world.remove(path, only).catch(async (error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== "bad_path") throw error;
    const found = await world.find(path).catch(() => undefined);
    const why = decideNotRemoved(path, only, found);
    throw why === undefined ? error : new Refusal("failure", why);
  });
}
