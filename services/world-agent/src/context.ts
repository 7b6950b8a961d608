import type { StagedParts } from "@svc/proto/world-task";
import type { Folder } from "@svc/world";
import { limits } from "./config.ts";

export type Context = {
  /** Throws when the Job has no such volume. */
  world: Folder;
  archive: Folder;
  tmp: string;
  token: string;
  content: () => Buffer;
  parts: () => StagedParts;
  signal: AbortSignal;
  traceparent?: string | undefined;
  onProgress: (done: number, total: number) => void;
  /** For whoever reads the log of a Job. */
  say: (text: string) => void;
};

/** A one-time URL that this Job may use. */
export function targetOf(url: string, { token, signal, traceparent }: Context) {
  return { url, token, signal, traceparent, stallMs: limits.stallMs };
}
