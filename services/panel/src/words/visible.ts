// Text from outside in which nothing hides and nothing turns the text around it.

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: these are the characters that must not act
const hidden =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: above

/** Control characters as their pictures, others that hide or turn text as a box with their number. */
export function visible(text: string): string {
  return text.replace(hidden, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
  });
}
