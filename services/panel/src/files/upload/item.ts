// One file or folder on its way into a world (docs/reference/uploads.md#session), or the context of a submission
// (docs/reference/submissions.md#upload), as a state machine. `decideStep` says what is to be done next, the functions
// after it what an outcome makes of the item. Clock and requests are outside.

/** A file up to this size goes in one request; larger ones in parts, which survive a break. */
export const wholeBytes = 4 * 1_048_576;

export type UploadState =
  | { is: "open" }
  /** Something passing is in the way; `code` says what. */
  | { is: "retrying"; at: number; code: string }
  | { is: "exists" }
  | { is: "failed"; code: string; message: string }
  | { is: "done" }
  | { is: "skipped" };

export type UploadItem = {
  id: string;
  /** Empty for the context of a submission. */
  server: string;
  /** Set for the context of a submission: it always goes in parts, and its session is the submission. */
  submission?: string | undefined;
  path: string;
  kind: "file" | "folder";
  size: number;
  /** Of the file on the person's device, in Unix milliseconds: a file of another time is another file. */
  modified: number;
  overwrite: boolean;
  session?: string | undefined;
  partMax: number;
  received: number;
  /** `received` is what the service said after the last break. */
  isSynced: boolean;
  /** A commit was sent; a session that is gone after it has reached the world. */
  wasCommitted: boolean;
  op?: string | undefined;
  /** Failures since something went well. */
  attempts: number;
  state: UploadState;
};

export type UploadStep =
  | { do: "make-folder" }
  | { do: "send-whole" }
  | { do: "begin" }
  | { do: "read-session"; session: string }
  | { do: "send-part"; session: string; offset: number; length: number }
  | { do: "commit"; session: string }
  | { do: "watch"; op: string }
  /** The bytes are not at hand: the person has to choose the file again. */
  | { do: "ask-for-file" }
  | { do: "wait"; until: number }
  | { do: "nothing" };

/** What is to be done next for an item. */
export function decideStep(
  item: UploadItem,
  { hasFile, now }: { hasFile: boolean; now: number },
): UploadStep {
  const { state, session, received, size } = item;
  if (state.is === "retrying" && state.at > now) return { do: "wait", until: state.at };
  if (state.is !== "open" && state.is !== "retrying") return { do: "nothing" };
  if (item.kind === "folder") return { do: "make-folder" };
  if (item.op !== undefined) return { do: "watch", op: item.op };
  if (session !== undefined && !item.isSynced) return { do: "read-session", session };
  if (session !== undefined && received >= size) return { do: "commit", session };
  if (!hasFile) return { do: "ask-for-file" };
  if (size <= wholeBytes && item.submission === undefined) return { do: "send-whole" };
  if (session === undefined) return { do: "begin" };
  return { do: "send-part", session, offset: received, length: Math.min(item.partMax, size - received) };
}

const fresh = { attempts: 0, state: { is: "open" } } as const;

/** The service said how far the upload is. */
export function withSession(
  item: UploadItem,
  session: { id: string; received: number; part_max_bytes: number },
): UploadItem {
  const { id, received, part_max_bytes: partMax } = session;
  return { ...item, ...fresh, session: id, received, partMax, isSynced: true };
}

export function withCommit(item: UploadItem, op: string): UploadItem {
  return { ...item, ...fresh, op, wasCommitted: true };
}

export function withDone(item: UploadItem): UploadItem {
  return { ...item, received: item.size, state: { is: "done" } };
}

type Operation = {
  state: "running" | "succeeded" | "failed";
  error?: { code: string; message: string } | undefined;
};

const watchMs = 1_500;

/** What the background operation says; undefined when it is not listed any more. */
export function withOperation(item: UploadItem, op: Operation | undefined, now: number): UploadItem {
  if (op?.state === "running") return { ...item, state: { is: "retrying", at: now + watchMs, code: "" } };
  if (op?.state === "succeeded") return withDone(item);
  const settled = { ...item, op: undefined, isSynced: false };
  // Nobody knows its end any more; the session does.
  if (!op) return { ...settled, state: { is: "open" } };
  const { code = "unknown", message = "" } = op.error ?? {};
  return withFailure(
    { ...settled, wasCommitted: false },
    { code, message, status: 409 },
    { now, step: "watch" },
  );
}

export type UploadFailure = {
  code: string;
  status: number;
  message: string;
  retryAfterSeconds?: number | undefined;
};

type FailureContext = { now: number; step: UploadStep["do"] };

/** After these the place in the file is asked for, then it goes on. */
const outOfStep = [
  "upload_offset_mismatch",
  "upload_incomplete",
  "upload_not_complete",
  "digest_mismatch",
] as const;
/** These pass by themselves, or when somebody stops the server. */
const passing = [
  "offline",
  "maintenance_in_progress",
  "not_stopped",
  "world_reclaiming",
  "upload_busy",
] as const;
const includes = (codes: readonly string[], code: string) => codes.includes(code);
const mostRestarts = 3;
const mostAttempts = 8;
const longestWaitMs = 30_000;

/** What a refusal or a break makes of an item. */
export function withFailure(
  item: UploadItem,
  failure: UploadFailure,
  { now, step }: FailureContext,
): UploadItem {
  const { code, status, message } = failure;
  const attempts = item.attempts + 1;
  const failed: UploadItem = {
    ...item,
    attempts: 0,
    isSynced: false,
    state: { is: "failed", code, message },
  };
  if (code === "file_exists")
    return item.kind === "folder" ? withDone(item) : { ...item, attempts: 0, state: { is: "exists" } };
  if (code === "upload_not_found") {
    if (item.wasCommitted) return withDone(item);
    return attempts > mostRestarts
      ? failed
      : { ...item, attempts, session: undefined, received: 0, state: { is: "open" } };
  }
  const retrying: UploadItem = {
    ...item,
    attempts,
    isSynced: false,
    wasCommitted: item.wasCommitted || step === "commit",
    state: { is: "retrying", at: now + waitMs(attempts, failure), code },
  };
  if (includes(outOfStep, code)) return attempts > mostAttempts ? failed : retrying;
  // Nobody knows whether it was written: the person looks, and the same bytes are not sent unasked.
  if (code === "files_timeout" && step === "send-whole") return failed;
  if (includes(passing, code) || status === 429 || (status >= 502 && status <= 504)) return retrying;
  return failed;
}

function waitMs(attempts: number, { retryAfterSeconds = 0 }: UploadFailure): number {
  return Math.max(retryAfterSeconds * 1_000, Math.min(1_000 * 2 ** (attempts - 1), longestWaitMs));
}
