// Text from outside in which nothing hides and nothing turns the text around it.

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: these are the characters that must not act
const hidden =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: above

/** Control characters as their pictures, others that hide or turn text as a box with their number. */
export function visible(text: string): string {
  return text.replace(hidden, (character, at: number) => {
    const code = character.charCodeAt(0);
    if (code === joiner && joinsEmoji(text, at)) return character;
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
  });
}

const joiner = 0x200d;
const endsWithEmoji = /[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?$/u;
const beginsWithEmoji = /^\p{Extended_Pictographic}/u;

/** Whether a joiner makes one picture of two, as in a family. */
function joinsEmoji(text: string, at: number): boolean {
  return (
    endsWithEmoji.test(text.slice(Math.max(0, at - 3), at)) &&
    beginsWithEmoji.test(text.slice(at + 1, at + 3))
  );
}
