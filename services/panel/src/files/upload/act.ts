// The requests of one step. Decisions are in item.ts.

import { sendBytes } from "../../api/bytes.ts";
import { call } from "../../api/call.ts";
import { ApiError } from "../../api/error.ts";
import {
  type UploadFailure,
  type UploadItem,
  type UploadStep,
  withCommit,
  withDone,
  withFailure,
  withOperation,
  withSession,
} from "./item.ts";

type Act = {
  item: UploadItem;
  step: Exclude<UploadStep, { do: "nothing" | "wait" | "ask-for-file" }>;
  file: File | undefined;
  signal: AbortSignal;
  onProgress: (bytes: number) => void;
};

/** Does one step. A refusal becomes part of the item; an abort and a session that ended are thrown. */
export async function act(about: Act): Promise<UploadItem> {
  try {
    return await attempt(about);
  } catch (error) {
    about.signal.throwIfAborted();
    if (error instanceof ApiError && error.status === 401) throw error;
    return withFailure(about.item, failureOf(error), { now: Date.now(), step: about.step.do });
  }
}

/** Code of a file that cannot be read on the person's device any more. */
export const unreadable = "file_unreadable";

function failureOf(error: unknown): UploadFailure {
  if (error instanceof ApiError) return error;
  // What Blob.arrayBuffer throws when the file was moved or changed.
  if (error instanceof DOMException) return { code: unreadable, status: 0, message: error.message };
  throw error;
}

function attempt(about: Act): Promise<UploadItem> {
  const { submission } = about.item;
  return submission === undefined ? attemptFile(about) : attemptContext(about, submission);
}

async function attemptContext(about: Act, id: string): Promise<UploadItem> {
  const { item, step, file, signal, onProgress } = about;
  if (step.do === "read-session") {
    const progress = await call("submissions.readContextUpload", { id }, { signal });
    if (item.wasCommitted && progress.received === 0 && (await isContextOf(item, id, signal)))
      return withDone(item);
    // Before its first part has arrived, what is there belongs to an earlier file.
    return withSession(item, { id, ...progress, ...(item.received === 0 && { received: 0 }) });
  }
  if (step.do === "send-part") {
    const { offset, length } = step;
    const { body, content_digest } = await bodyOf(file?.slice(offset, offset + length));
    const options = { body, signal, onProgress };
    const progress = await sendBytes("submissions.putContextPart", { id, offset, content_digest }, options);
    return withSession(item, { id, ...progress });
  }
  await call("submissions.completeContextUpload", { id }, { signal });
  return withDone(item);
}

/** Whether the submission has a context of this size: an answer that was lost had completed it. */
async function isContextOf({ size }: UploadItem, id: string, signal: AbortSignal): Promise<boolean> {
  const { context_bytes } = await call("submissions.readOwn", { id }, { signal });
  return context_bytes === size;
}

async function attemptFile({ item, step, file, signal, onProgress }: Act): Promise<UploadItem> {
  const { server: name, path, size } = item;
  switch (step.do) {
    case "make-folder":
      await call("files.makeFolder", { name, path }, { signal });
      return withDone(item);
    case "send-whole": {
      const { body, content_digest } = await bodyOf(file);
      const overwrite = item.overwrite ? "true" : "false";
      await sendBytes(
        "uploads.upload",
        { name, path, overwrite, content_digest },
        { body, signal, onProgress },
      );
      return withDone(item);
    }
    case "begin":
      return withSession(item, await call("uploads.begin", { name, path, size }, { signal }));
    case "read-session":
      return withSession(item, await call("uploads.readSession", { name, id: step.session }, { signal }));
    case "send-part": {
      const { session: id, offset, length } = step;
      const { body, content_digest } = await bodyOf(file?.slice(offset, offset + length));
      const options = { body, signal, onProgress };
      return withSession(
        item,
        await sendBytes("uploads.putPart", { name, id, offset, content_digest }, options),
      );
    }
    case "commit": {
      const { overwrite } = item;
      const { op } = await call("uploads.commit", { name, id: step.session, overwrite }, { signal });
      return withCommit(item, op.id);
    }
    case "watch": {
      const { ops } = await call("files.listOperations", { name }, { signal });
      return withOperation(
        item,
        ops.find(({ id }) => id === step.op),
        Date.now(),
      );
    }
  }
}

/** The bytes of one request and their digest, as `Content-Digest` wants it. */
async function bodyOf(part: Blob | undefined) {
  const bytes = await (part ?? new Blob()).arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return { body: new Blob([bytes]), content_digest: `sha-256=:${btoa(String.fromCharCode(...digest))}:` };
}
