import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/call.ts";
import { ApiError } from "../api/error.ts";
import { base64OfBytes, sha256Hex } from "./text-content.ts";
import { type FileText, readText } from "./use-file.ts";

/** What the file became while somebody edited it; without `text` it is gone or no text any more. */
export type Theirs = { text?: string; sha256?: string };

type Save = {
  save: (text: string) => Promise<boolean>;
  isSaving: boolean;
  error: ApiError | undefined;
  /** The text that mine and theirs both began with. */
  base: string;
  theirs: Theirs | undefined;
  /** The newest version of the others is what is edited now. */
  settle: () => void;
};

/** Saves a file only over the version that was looked at. */
export function useSave(about: { name: string; path: string; file: FileText & { text: string } }): Save {
  const { name, path, file } = about;
  const client = useQueryClient();
  /** The version that the next save replaces; none where the file is gone. */
  const [replaced, setReplaced] = useState<string | undefined>(file.sha256);
  const [base, setBase] = useState(file.text);
  const [theirs, setTheirs] = useState<Theirs>();
  const [error, setError] = useState<ApiError>();
  const [isSaving, setSaving] = useState(false);
  const write = async (text: string) => {
    const bytes = new TextEncoder().encode(text);
    const { sha256 } = await call("files.write", {
      name,
      path,
      content: base64OfBytes(bytes),
      content_sha256: await sha256Hex(bytes),
      ...(replaced === undefined ? { create_only: true } : { expect_sha256: replaced }),
    });
    setReplaced(sha256);
    setBase(text);
    setTheirs(undefined);
    void client.invalidateQueries({ queryKey: ["files.list"] });
  };
  const compare = async () => {
    const now = await readText(name, path).catch((thrown: unknown) => {
      if (thrown instanceof ApiError && thrown.code === "not_found") return undefined;
      throw thrown;
    });
    setReplaced(now?.sha256);
    setTheirs(now ? { sha256: now.sha256, ...(now.text !== undefined && { text: now.text }) } : {});
  };
  const save = async (text: string) => {
    setSaving(true);
    setError(undefined);
    try {
      await write(text);
      return true;
    } catch (thrown) {
      const changed = thrown instanceof ApiError && conflicts.includes(thrown.code);
      await (changed ? compare() : Promise.reject(thrown)).catch((failed: unknown) => {
        if (!(failed instanceof ApiError)) throw failed;
        setError(failed);
      });
      return false;
    } finally {
      setSaving(false);
    }
  };
  const settle = () => {
    if (theirs?.text !== undefined) setBase(theirs.text);
    setTheirs(undefined);
  };
  return { save, isSaving, error, base, theirs, settle };
}

/** Codes that say that the file is not what it was: changed, deleted, or there again. */
const conflicts: readonly string[] = ["file_changed", "not_found", "file_exists"];
