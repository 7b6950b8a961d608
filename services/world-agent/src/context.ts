import type { StagedParts } from "@svc/proto/world-task";
import type { Folder } from "@svc/world";

export type Context = {
  /** Throws when the Job has no such volume. */
  world: Folder;
  archive: Folder;
  tmp: string;
  token: string;
  content: () => Buffer;
  parts: () => StagedParts;
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
  /** For whoever reads the log of a Job. */
  say: (text: string) => void;
};
