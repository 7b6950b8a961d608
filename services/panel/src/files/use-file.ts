import { useEffect, useState } from "react";
import { call } from "../api/call.ts";
import { ApiError } from "../api/error.ts";
import { bytesOfBase64, type LineBreak, lineBreakOf, textOfBytes } from "./text-content.ts";

export type FileText = {
  /** Undefined when the file is not text. */
  text: string | undefined;
  lineBreak: LineBreak;
  bytes: number;
  /** Digest of the file as it is stored. */
  sha256: string;
  /** What was sent is not what is stored: a password was left out. */
  isMasked: boolean;
};

export async function readText(name: string, path: string, signal?: AbortSignal): Promise<FileText> {
  const read = await call("files.read", { name, path }, signal && { signal });
  const bytes = bytesOfBase64(read.content);
  const text = textOfBytes(bytes);
  return {
    text,
    lineBreak: lineBreakOf(text ?? ""),
    bytes: bytes.length,
    sha256: read.sha256,
    isMasked: read.sha256 !== read.content_sha256,
  };
}

type ReadFile = { file: FileText | undefined; error: ApiError | undefined; retry: () => void };

/** Reads a file once; it is not read again below somebody who edits it. */
export function useFile({ name, path, enabled }: { name: string; path: string; enabled: boolean }): ReadFile {
  const [file, setFile] = useState<FileText>();
  const [error, setError] = useState<ApiError>();
  const [tries, setTries] = useState(0);
  const isWanted = enabled && file === undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another try reads again
  useEffect(() => {
    if (!isWanted) return;
    const stop = new AbortController();
    setError(undefined);
    readText(name, path, stop.signal).then(setFile, (thrown: unknown) => {
      if (!stop.signal.aborted && thrown instanceof ApiError) setError(thrown);
    });
    return () => stop.abort();
  }, [name, path, isWanted, tries]);
  return { file, error, retry: () => setTries((count) => count + 1) };
}
