// What can be told of a pack's file before it is uploaded (docs/reference/submissions.md#upload). Pure.

export type ContextProblem = "not-archive" | "empty" | "too-large";

/** First bytes of gzip and of a zip. */
const magics = [
  [0x1f, 0x8b],
  [0x50, 0x4b],
] as const;

/** What is wrong with a chosen file; `head` are its first bytes. */
export function findContextProblem(
  { size, head }: { size: number; head: Uint8Array },
  maxBytes: number | undefined,
): ContextProblem | undefined {
  if (size === 0) return "empty";
  if (!magics.some((magic) => magic.every((byte, at) => head[at] === byte))) return "not-archive";
  return maxBytes !== undefined && size > maxBytes ? "too-large" : undefined;
}

export const mostNameLength = 200;

/** A name for a pack out of that of its file, in the characters that a name may have. */
export function nameOfFile(name: string): string {
  const stem = name.replace(/\.(tar\.gz|tgz|gz|mrpack|zip)$/i, "");
  const allowed = stem.replace(/[^\p{L}\p{M}\p{N} ._:()[\]/+-]+/gu, " ");
  return [...allowed].slice(0, mostNameLength).join("").trim();
}

/** An example of what stands at the root of a pack. */
export const exampleDockerfile = [
  "FROM registry.example.net/minecraft-server:1.21.4",
  "COPY mods/ /mods/",
  "COPY config/ /config/",
  'ENV MOTD="Our pack"',
  "",
].join("\n");
