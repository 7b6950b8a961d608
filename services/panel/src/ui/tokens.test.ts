import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const css = readFileSync(join(import.meta.dirname, "tokens.css"), "utf8");
const themes = ["light", "dark"] as const;

/** The colour of a token in both themes, as the file has it. */
function coloursOf(token: string): readonly [light: string, dark: string] {
  const found = new RegExp(`--${token}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`).exec(css);
  assert.ok(found, `--${token}`);
  return [found[1] ?? "", found[2] ?? ""];
}

/** Relative luminance of WCAG 2.2. */
function luminanceOf(colour: string): number {
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255);
  const [red = 0, green = 0, blue = 0] = parts.map((part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrastOf(one: string, other: string): number {
  const [lighter = 0, darker = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

const grounds = ["bg", "surface", "sunken"];
const texts = ["text", "muted", "accent", "running", "starting", "asleep", "failed", "retiring"];

for (const [at, theme] of themes.entries()) {
  for (const [tokens, least] of [
    [texts, 5.4],
    [["line"], 3.3],
  ] as const) {
    test(`${tokens.join(", ")} stand out ${least} : 1 on every ground in the ${theme} theme`, () => {
      const low = tokens.flatMap((token) =>
        grounds
          .map((ground) => ({
            ground,
            ratio: contrastOf(coloursOf(token)[at] ?? "", coloursOf(ground)[at] ?? ""),
          }))
          .filter(({ ratio }) => Math.round(ratio * 10) / 10 < least)
          .map(({ ground, ratio }) => `${token} on ${ground}: ${ratio.toFixed(2)}`),
      );
      assert.deepEqual(low, []);
    });
  }
  test(`words on the accent can be read in the ${theme} theme`, () => {
    assert.ok(contrastOf(coloursOf("on-accent")[at] ?? "", coloursOf("accent")[at] ?? "") > 5.4);
  });
}
