// Every regular expression that is written in the sources.

import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

const root = resolve(import.meta.dirname, "../../..");
const isOurs = (file: string) =>
  !/node_modules|\.test\.ts$|\/testing\/|testing\.ts$|\/tools\/|\/conformance\//.test(file);

function sources(): { file: string; source: string }[] {
  const files = globSync("{proto,libs,services}/**/*.{ts,tsx}", {
    cwd: root,
    exclude: (path) => path.includes("node_modules"),
  });
  return files
    .filter(isOurs)
    .sort()
    .map((file) => ({ file, source: readFileSync(resolve(root, file), "utf8") }));
}

/** Files that put expressions together from texts. */
export function composing(): string[] {
  return sources()
    .filter(({ source }) => /\bRegExp\(/.test(source))
    .map(({ file }) => file);
}

/** Comments and strings, which hold what only looks like an expression; then what stands where a value may stand. */
const tokens =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(?<=[(,=:[!&|?{};>+\n]\s*|return\s+)\/(?<source>(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+)\/(?<flags>[dgimsuvy]*)/g;

type Literal = { readonly file: string; readonly text: string; readonly expression: RegExp };

export function literals(): Literal[] {
  return sources().flatMap(({ file, source }) => {
    return [...source.matchAll(tokens)].flatMap(({ groups }) => {
      const { source: pattern, flags = "" } = groups ?? {};
      const isPath = pattern === undefined || pattern.includes("${") || pattern.startsWith(" ");
      return isPath ? [] : [{ file, text: `/${pattern}/${flags}`, expression: new RegExp(pattern, flags) }];
    });
  });
}
