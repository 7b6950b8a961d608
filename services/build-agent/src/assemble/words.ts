// Words of a Dockerfile line: quotes, escapes and variables as Docker reads them.

export type Variables = Pick<ReadonlyMap<string, string>, "get">;

/** Replaces `$NAME`, `${NAME}`, `${NAME:-default}` and `${NAME:+value}`; throws one sentence for another form. */
export function expand(text: string, variables: Variables): string {
  const parts: string[] = [];
  const special = /\\\$|\$[A-Za-z_{]/g;
  let from = 0;
  for (let found = special.exec(text); found; found = special.exec(text)) {
    const at = found.index;
    const { value, end } = found[0] === "\\$" ? { value: "$", end: at + 2 } : variableAt(text, at, variables);
    parts.push(text.slice(from, at), value);
    from = end;
    special.lastIndex = end;
  }
  return parts.join("") + text.slice(from);
}

/** What stands for the variable at a dollar that a letter, `_` or `{` follows, and where it ends. */
function variableAt(text: string, at: number, variables: Variables): { value: string; end: number } {
  const plain = /\$([A-Za-z_][A-Za-z0-9_]*)/y;
  plain.lastIndex = at;
  const [dollarName, plainName] = plain.exec(text) ?? [];
  if (dollarName && plainName) return { value: variables.get(plainName) ?? "", end: at + dollarName.length };
  const end = text.indexOf("}", at);
  const [, name = "", operator, word = ""] =
    /^([A-Za-z_][A-Za-z0-9_]*)(?:(:[-+])(.*))?$/s.exec(end < 0 ? "" : text.slice(at + 2, end)) ?? [];
  if (name === "") throw new Error(`${text.slice(at, at + 40)} is not a variable`);
  const value = variables.get(name) ?? "";
  if (operator === ":-") return { value: value === "" ? word : value, end: end + 1 };
  if (operator === ":+") return { value: value === "" ? "" : word, end: end + 1 };
  return { value, end: end + 1 };
}

/** Splits at blanks outside of quotes; quotes and escapes are removed. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? "";
    if (quote === "" && /\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (quote === "" && (char === '"' || char === "'")) {
      quote = char;
      word ??= "";
    } else if (char === quote) {
      quote = "";
    } else if (char === "\\" && quote !== "'" && at + 1 < text.length) {
      // A dollar keeps its escape: variables are replaced later.
      at += 1;
      word = `${word ?? ""}${text[at] === "$" ? "\\" : ""}${text[at]}`;
    } else {
      word = `${word ?? ""}${char}`;
    }
  }
  if (quote !== "") throw new Error("a quote is not closed");
  if (word !== undefined) words.push(word);
  return words;
}

/** The strings of a JSON array; undefined for a line that is none. */
export function jsonWords(text: string): string[] | undefined {
  if (!text.startsWith("[")) return undefined;
  try {
    const words: unknown = JSON.parse(text);
    return Array.isArray(words) && words.every((word) => typeof word === "string") ? words : undefined;
  } catch {
    return undefined;
  }
}
