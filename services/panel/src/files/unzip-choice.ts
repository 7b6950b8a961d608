/** What can be tried after an extraction was refused; undefined where nothing helps. */
export function decideUnzipChoice(code: string | undefined): "replace" | "skip" | undefined {
  if (code === "file_exists") return "replace";
  // Of an archive: it holds a protected file (docs/reference/uploads.md#unzip).
  return code === "bad_path" ? "skip" : undefined;
}
