// What a reviewer should look at twice in a Dockerfile. It names, it does not judge: nothing here refuses a pack. Pure.

const suspicionKinds = [
  "remoteAdd",
  "download",
  "pipeToShell",
  "encoded",
  "setuid",
  "secret",
  "unpinned",
  "hidden",
] as const;
export type SuspicionKind = (typeof suspicionKinds)[number];
/** `line` is where the instruction begins, from 1. */
type Suspicion = { kind: SuspicionKind; line: number; text: string };

type Instruction = { line: number; name: string; text: string };

const hiddenCharacters = /[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/;
const longest = 300;

const rules: Readonly<Record<SuspicionKind, (instruction: Instruction) => boolean>> = {
  remoteAdd: ({ name, text }) => name === "ADD" && /(https?|ftp|git|ssh):\/\/|\bgit@/i.test(text),
  download: ({ name, text }) =>
    name === "RUN" && /\b(curl|wget|aria2c|ftp|scp|nc|ncat|git\s+clone|Invoke-WebRequest)\b/i.test(text),
  pipeToShell: ({ name, text }) =>
    name === "RUN" && /\|\s*(sudo\s+)?(ba|z|da|a|k)?sh\b|\|\s*(python|perl|node)\b|\beval\b/.test(text),
  encoded: ({ name, text }) => name === "RUN" && /\bbase64\b|\bxxd\s+-r|\\x[0-9a-f]{2}\\x/i.test(text),
  setuid: ({ name, text }) => name === "RUN" && /\bchmod\s+([ugo]*\+[rwx]*s|[2467][0-7]{3})\b/.test(text),
  secret: ({ name, text }) =>
    (name === "ENV" || name === "ARG") && /(password|passwd|secret|token|api_?key)\w{0,40}[= ]/i.test(text),
  unpinned: ({ name, text }) => name === "FROM" && isUnpinned(text),
  hidden: ({ text }) => hiddenCharacters.test(text),
};

/** Everything that one of the rules names, in the order of the file. */
export function findSuspicions(dockerfile: string): Suspicion[] {
  const stages = new Set<string>();
  return instructionsOf(dockerfile).flatMap((instruction) => {
    const { line, name, text } = instruction;
    const isStage = name === "FROM" && stages.has(baseOf(text).toLowerCase());
    const [, stage] = name === "FROM" ? (/\sas\s+(\S+)\s*$/i.exec(text) ?? []) : [];
    if (stage !== undefined) stages.add(stage.toLowerCase());
    return suspicionKinds
      .filter((kind) => rules[kind](instruction) && !(kind === "unpinned" && isStage))
      .map((kind) => ({ kind, line, text: text.slice(0, longest) }));
  });
}

/** What a FROM line names, without its options. */
function baseOf(text: string): string {
  return (
    text
      .split(/\s+/)
      .slice(1)
      .find((word) => !word.startsWith("--")) ?? ""
  );
}

/** A base that another day may be another image: without a tag, `latest`, or named by an argument. */
function isUnpinned(text: string): boolean {
  const base = baseOf(text);
  if (base === "" || base === "scratch" || base.includes("@sha256:")) return false;
  const tag = /:([^/]+)$/.exec(base)?.[1];
  return tag === undefined || tag === "latest" || base.includes("$");
}

/** Instructions with their continued lines as one text; comments are left out. */
function instructionsOf(dockerfile: string): Instruction[] {
  const found: Instruction[] = [];
  let open: { line: number; parts: string[] } | undefined;
  const close = () => {
    const text = open?.parts.join(" ").trim() ?? "";
    const [, name = ""] = /^([A-Za-z]+)\b/.exec(text) ?? [];
    if (open && text !== "") found.push({ line: open.line, name: name.toUpperCase(), text });
    open = undefined;
  };
  for (const [at, raw] of dockerfile.split(/\r\n|[\r\n]/).entries()) {
    if (/^\s*#/.test(raw) || (open && raw.trim() === "")) {
      // A comment may hide characters as well, and it may stand between continued lines.
      if (!open && hiddenCharacters.test(raw)) found.push({ line: at + 1, name: "", text: raw.trim() });
      continue;
    }
    open ??= { line: at + 1, parts: [] };
    const trimmed = raw.trimEnd();
    const isContinued = trimmed.endsWith("\\");
    open.parts.push((isContinued ? trimmed.slice(0, -1) : trimmed).trim());
    if (!isContinued) close();
  }
  close();
  return found;
}
