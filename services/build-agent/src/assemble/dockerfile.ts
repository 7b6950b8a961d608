// Splits a Dockerfile into instructions.

/** `flags` are the words that begin with `--`. */
export type Instruction = { line: number; name: string; flags: Map<string, string>; rest: string };

const mostInstructions = 1_000;

/** Throws one sentence that names the line. */
export function parseDockerfile(text: string): Instruction[] {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  const escapeChar = escapeOf(lines);
  const instructions: Instruction[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const first = at;
    let joined = "";
    for (;;) {
      const line = lines[at] ?? "";
      // Comments and blank lines do not end a continued line.
      const isComment = /^\s*#/.test(line) || (joined !== "" && line.trim() === "");
      const trimmed = line.trimEnd();
      const continues = !isComment && trimmed.endsWith(escapeChar);
      if (!isComment) joined += continues ? trimmed.slice(0, -1) : trimmed;
      if (!continues && !(isComment && joined !== "")) break;
      at += 1;
      if (at >= lines.length) break;
    }
    if (joined.trim() === "") continue;
    if (instructions.length >= mostInstructions)
      throw new Error(`the Dockerfile has more than ${mostInstructions} instructions`);
    instructions.push(instructionOf(joined.trim(), first + 1));
  }
  return instructions;
}

function escapeOf(lines: readonly string[]): string {
  for (const line of lines) {
    const directive = /^#\s*([a-z]+)\s*=\s*(\S+)\s*$/i.exec(line.trim());
    if (!directive) return "\\";
    if (directive[1]?.toLowerCase() === "escape") return directive[2] === "`" ? "`" : "\\";
  }
  return "\\";
}

function instructionOf(text: string, line: number): Instruction {
  const [word = ""] = text.split(/\s/, 1);
  const flags = new Map<string, string>();
  let rest = text.slice(word.length).trim();
  for (;;) {
    const [flag = ""] = rest.split(/\s/, 1);
    if (!flag.startsWith("--") || flag === "--") break;
    const equals = flag.indexOf("=");
    flags.set(flag.slice(2, equals < 0 ? undefined : equals), equals < 0 ? "" : flag.slice(equals + 1));
    rest = rest.slice(flag.length).trim();
  }
  if (!/^[A-Za-z]+$/.test(word)) throw new Error(`line ${line} of the Dockerfile is not an instruction`);
  return { line, name: word.toUpperCase(), flags, rest };
}
