// Patterns of COPY, ADD and .dockerignore. No regular expressions: patterns come from users, and these match in time
// linear in the pattern for each character.

/** Whether a path of names matches a pattern of names; `**` stands for any number of names. */
export function matchesPath(pattern: readonly string[], path: readonly string[]): boolean {
  return matches(pattern, path, { isStar: (part) => part === "**", matchOne: matchesName });
}

/** No path is longer, so no longer pattern means anything. */
const longestPattern = 4_096;

/** Whether one name matches one pattern with `*`, `?`, `[a-z]` and `\` before a plain character; throws one sentence. */
export function matchesName(pattern: string, name: string): boolean {
  if (pattern.length > longestPattern)
    throw new Error(`a pattern has more than ${longestPattern} characters: ${pattern.slice(0, 40)}`);
  return matches(tokensOf(pattern), [...name], {
    isStar: (token) => token === "*",
    matchOne: (token, char) => typeof token !== "string" && token(char),
  });
}

export function hasGlob(text: string): boolean {
  return /[*?[]/.test(text);
}

type Rules<Part, Item> = { isStar: (part: Part) => boolean; matchOne: (part: Part, item: Item) => boolean };

/** Remembers only the last star: an earlier one never has to take more when a later one can. */
function matches<Part, Item>(
  pattern: readonly Part[],
  items: readonly Item[],
  { isStar, matchOne }: Rules<Part, Item>,
): boolean {
  let [at, star, resume] = [0, -1, 0];
  for (let index = 0; index < items.length; ) {
    const part = pattern[at];
    if (part !== undefined && isStar(part)) {
      star = at++;
      resume = index;
    } else if (part !== undefined && matchOne(part, items[index] as Item)) {
      at += 1;
      index += 1;
    } else {
      if (star < 0) return false;
      at = star + 1;
      index = ++resume;
    }
  }
  return pattern.slice(at).every(isStar);
}

type Token = "*" | ((char: string) => boolean);

function tokensOf(pattern: string): Token[] {
  const chars = [...pattern];
  const tokens: Token[] = [];
  // Looked for once: brackets that nothing closes would have each of them look through the rest.
  const lastEnd = chars.lastIndexOf("]");
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at] ?? "";
    const end = char === "[" && lastEnd >= at + 2 ? chars.indexOf("]", at + 2) : -1;
    if (char === "*") tokens.push("*");
    else if (char === "?") tokens.push(() => true);
    else if (end > 0) {
      tokens.push(classOf(chars.slice(at + 1, end)));
      at = end;
    } else {
      const plain = char === "\\" ? (chars[++at] ?? "\\") : char;
      tokens.push((other) => other === plain);
    }
  }
  return tokens;
}

function classOf(chars: readonly string[]): (char: string) => boolean {
  const isNegated = chars[0] === "^" || chars[0] === "!";
  const ranges: [string, string][] = [];
  for (let at = isNegated ? 1 : 0; at < chars.length; at += 1) {
    const from = chars[at] ?? "";
    const isRange = chars[at + 1] === "-" && at + 2 < chars.length;
    ranges.push([from, isRange ? (chars[at + 2] ?? from) : from]);
    if (isRange) at += 2;
  }
  return (char) => ranges.some(([from, to]) => from <= char && char <= to) !== isNegated;
}
