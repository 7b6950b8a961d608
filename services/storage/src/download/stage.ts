// Downloads files onto the upload volume, each as one part of a staged upload, with all that is asked of it checked.

import { setTimeout as delay } from "node:timers/promises";
import { type Got, guardedGet, SourceRefused, SourceUnavailable } from "@svc/service/guarded-get";
import { type ExpectedBytes, type Mismatch, verified } from "@svc/service/verified";
import { checkAddress, type Sources } from "../source/address.ts";
import { DownloadError } from "../source/failure.ts";
import { userAgent } from "../source/user-agent.ts";
import type { UploadDeps } from "../upload/deps.ts";
import { reserveSpace } from "../upload/reservation.ts";
import { acquireLease, type StoredUpload } from "../upload/session.ts";

/** One file of the world, and where it comes from. */
export type Source = ExpectedBytes & { url: string; mostBytes: number };

type Staging = {
  sources: Sources;
  signal: AbortSignal;
  progress: (done: number, total: number) => void;
  /** Hash of the token with which the Job opens what is staged. */
  tokenHash: string;
};

const mostRedirects = 5;
const tries = 3;
const firstPauseMs = 500;

/** The upload with one part for each file, in order. Throws `DownloadError`, and faults of the upload volume. */
export async function stageFiles(
  deps: UploadDeps,
  { upload, files }: { upload: StoredUpload; files: readonly Source[] },
  staging: Staging,
): Promise<StoredUpload> {
  const entry = await deps.uploads.get(upload.id);
  if (!entry) throw new DownloadError("download_failed", "The download was interrupted; try again.");
  await using lease = await acquireLease(deps, entry);
  const signal = AbortSignal.any([staging.signal, lease.signal]);
  const total = files.reduce((sum, { size = 0 }) => sum + size, 0);
  const parts: StoredUpload["parts"] = [];
  let [offset, before] = [0, 0];
  for (const file of files) {
    const report = (bytes: number) => staging.progress(before + bytes, total);
    const part = await stageOne(deps, { upload, file, offset }, { ...staging, signal, progress: report });
    deps.transferMetrics.staged(part.size);
    parts.push(part);
    before += part.size;
    offset += 1;
  }
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  return lease.finish((now) => ({ ...now, size, parts, token: { hash: staging.tokenHash, is_used: false } }));
}

type One = { upload: StoredUpload; file: Source; offset: number };
type Reporting = Omit<Staging, "progress" | "tokenHash"> & { progress: (bytes: number) => void };

/** Asks again while the source is unavailable. */
async function stageOne(deps: UploadDeps, one: One, reporting: Reporting) {
  const { signal } = reporting;
  for (let left = tries - 1, pauseMs = firstPauseMs; ; left -= 1, pauseMs *= 4) {
    try {
      return await attempt(deps, one, reporting);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SourceUnavailable)) throw error;
      if (left === 0) throw new DownloadError("download_failed", `${error.message} Try again later.`);
    }
    await delay(pauseMs, undefined, { signal });
  }
}

async function attempt(deps: UploadDeps, { upload, file, offset }: One, reporting: Reporting) {
  const { sources, signal, progress } = reporting;
  const { transfer_stall: stallMs } = deps.settings.storage;
  const judge = (address: string) => checkAddress(address, sources);
  const got = await guardedGet(file.url, { judge, userAgent, mostRedirects, stallMs, signal }).catch(
    (error: Error) => {
      throw error instanceof SourceRefused ? new DownloadError("download_failed", error.message) : error;
    },
  );
  try {
    const most = mostOf(got, file, new URL(file.url).host);
    await using _room = await reserveSpace(deps, { user_id: upload.user_id, bytes: most });
    const body = counted(verified(got.body, file, asFailure), progress);
    return await deps.staging.collect(body, { id: upload.id, offset, most, signal });
  } finally {
    got.close();
  }
}

/** Bytes that can come. Throws for an answer that is not the file. */
function mostOf({ status, length }: Got, { size, mostBytes }: Source, host: string): number {
  if (status === 429 || status >= 500) throw new SourceUnavailable(`${host} answered ${status}.`);
  if (status !== 200) throw new DownloadError("download_failed", `${host} answered ${status}.`);
  if (length !== undefined && length > mostBytes)
    throw new DownloadError("too_large", `The file has ${length} bytes; at most ${mostBytes} are fetched.`);
  return size ?? length ?? mostBytes;
}

function asFailure({ why, problem }: Mismatch): DownloadError {
  return why === "limit"
    ? new DownloadError("too_large", `The file is too large: ${problem}.`)
    : new DownloadError("digest_mismatch", `This is not the expected file: ${problem}.`);
}

async function* counted(
  body: AsyncIterable<Buffer>,
  progress: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    progress(bytes);
    yield chunk;
  }
}
