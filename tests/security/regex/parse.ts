// Takes a regular expression apart, as far as the sources use the language.

export type Node =
  | { readonly kind: "char"; readonly source: string; readonly is: (char: string) => boolean }
  | { readonly kind: "assert"; readonly source: string }
  | { readonly kind: "look"; readonly isBehind: boolean; readonly isNot: boolean; readonly body: Node }
  | { readonly kind: "sequence"; readonly parts: readonly Node[] }
  | { readonly kind: "either"; readonly options: readonly Node[] }
  | {
      readonly kind: "repeat";
      readonly body: Node;
      readonly min: number;
      readonly max: number;
      readonly isLazy: boolean;
    };

const group = /\((?:\?(?:(?<look><?[=!])|:|<\w+>))?/y;
const quantifier = /(?:[*+?]|\{(?<min>\d+)(?<open>,)?(?<max>\d*)\})(?<lazy>\??)/y;
const asserted = /\^|\$|\\[bB]/y;
const atom =
  /\\(?:[pP]\{[^}]*\}|u[0-9a-fA-F]{4}|u\{[^}]*\}|x[0-9a-fA-F]{2}|c[A-Z]|.)|\[(?:\\.|[^\]\\])*\]|[^()|]/sy;

export function parse({ source, flags }: RegExp): Node {
  let at = 0;
  const take = (token: RegExp) => {
    token.lastIndex = at;
    const found = token.exec(source);
    if (found) at = token.lastIndex;
    return found;
  };
  const either = (): Node => {
    const options = [sequence()];
    while (source[at] === "|") {
      at += 1;
      options.push(sequence());
    }
    return options.length === 1 ? (options[0] as Node) : { kind: "either", options };
  };
  const sequence = (): Node => {
    const parts: Node[] = [];
    while (at < source.length && source[at] !== "|" && source[at] !== ")") parts.push(repeated(single()));
    return { kind: "sequence", parts };
  };
  const single = (): Node => {
    const assertion = take(asserted);
    if (assertion) return { kind: "assert", source: assertion[0] };
    const opened = source[at] === "(" ? take(group) : undefined;
    if (opened) {
      const body = either();
      at += 1;
      const look = opened.groups?.["look"];
      if (look === undefined) return body;
      return { kind: "look", isBehind: look.startsWith("<"), isNot: look.endsWith("!"), body };
    }
    const found = take(atom);
    if (!found) throw new Error(`/${source}/ cannot be read at ${at}`);
    return { kind: "char", source: found[0], is: charTest(found[0], flags) };
  };
  const repeated = (body: Node): Node => {
    const found = take(quantifier);
    if (!found) return body;
    const { min: least, open, max: most, lazy } = found.groups ?? {};
    const min = least === undefined ? (found[0].startsWith("+") ? 1 : 0) : Number(least);
    const unbounded = found[0].startsWith("?") ? 1 : Number.POSITIVE_INFINITY;
    const bound = most ? Number(most) : open ? Number.POSITIVE_INFINITY : min;
    return { kind: "repeat", body, min, max: least === undefined ? unbounded : bound, isLazy: lazy === "?" };
  };
  const whole = either();
  if (at < source.length) throw new Error(`/${source}/ cannot be read at ${at}`);
  return whole;
}

function charTest(source: string, flags: string): (char: string) => boolean {
  const one = new RegExp(`^(?:${source})$`, flags.replace(/[gym]/g, ""));
  const known = new Map<string, boolean>();
  return (char) => {
    const before = known.get(char);
    if (before !== undefined) return before;
    const is = one.test(char);
    known.set(char, is);
    return is;
  };
}
