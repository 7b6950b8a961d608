// Answers that are kept as bytes, with a strong ETag (docs/reference/http.md#views).

import { hash } from "node:crypto";
import type { RequestState } from "../request/request-state.ts";
import type { Packable } from "../response/compression.ts";
import { isPackedFor, sendPackable, sendResponse, varyOf } from "../response/response.ts";

/** `etag` is that of the plain bytes. */
export type KeptAnswer = Packable & { etag: string };

/** Keeps bytes; what was packed of equal bytes before stays packed. */
export function keepAnswer(body: Uint8Array, before?: KeptAnswer): KeptAnswer {
  // The tag is taken from the bytes, so that every replica and every restart gives the same one.
  const etag = `"${hash("sha1", body, "base64url")}"`;
  return { body, etag, ...(before?.etag === etag && before.packed && { packed: before.packed }) };
}

type About = {
  /** Seconds since the owner said that the entries are current. */
  ageSeconds: () => number;
  /** Whether different callers may get different answers. */
  isPersonal: boolean;
  /** Seconds for which caches may answer everybody. */
  publicForSeconds?: number;
};

/** Sends a kept answer, or 304 to a caller who has it. Its compressed form is kept too, and has a tag of its own. */
export function sendKept(state: RequestState, kept: KeptAnswer, about: About): Promise<void> | void {
  const etag = isPackedFor(state, kept) ? `${kept.etag.slice(0, -1)}-gzip"` : kept.etag;
  const { publicForSeconds: seconds } = about;
  const shared = seconds === undefined ? "no-cache" : `public, max-age=${seconds}`;
  const control = about.isPersonal ? "private, no-cache" : shared;
  // An age would use up what caches may keep.
  const age = seconds === undefined ? ["Age", String(about.ageSeconds())] : [];
  const headers = ["ETag", etag, ...age, "Cache-Control", control];
  if (!isSame(state.request.headers["if-none-match"], etag)) return sendPackable(state, kept, headers);
  sendResponse(state, { status: 304, headers: [...headers, ...varyOf(state)] });
}

/** Whether an If-None-Match header has a tag. */
export function isSame(wanted: string | undefined, etag: string): boolean {
  if (wanted === undefined) return false;
  if (wanted === etag || wanted === "*") return true;
  return wanted.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
}

type KeptAnswers<Answer extends KeptAnswer> = {
  find: (key: string) => Answer | undefined;
  put: (key: string, answer: Answer) => void;
};

/** Answers by key, up to a number of bytes; those that nobody asked for longest go first, the last one stays. */
export function createKeptAnswers<Answer extends KeptAnswer>(mostBytes: number): KeptAnswers<Answer> {
  const answers = new Map<string, Answer>();
  let bytes = 0;
  const drop = (key: string) => {
    bytes -= answers.get(key)?.body.byteLength ?? 0;
    answers.delete(key);
  };
  return {
    find: (key) => {
      const answer = answers.get(key);
      if (!answer || answers.size === 1) return answer;
      answers.delete(key);
      answers.set(key, answer);
      return answer;
    },
    put: (key, answer) => {
      drop(key);
      answers.set(key, answer);
      bytes += answer.body.byteLength;
      for (const oldest of answers.keys()) {
        if (bytes <= mostBytes || answers.size === 1) return;
        drop(oldest);
      }
    },
  };
}
