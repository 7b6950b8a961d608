// Names that people chose, for pages and pictures of others. Pure.

/** Control characters, halves of characters, and what hides or turns the text around it. */
const hidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** One line without what would change the text around it. */
export function visibleName(text: string): string {
  return text.replace(hidden, " ").replace(/\s+/g, " ").trim();
}

/** The text of the server list without its colours and styles. */
export function plainMotd(text: string): string {
  return visibleName(text.replace(/§[0-9a-fk-orx]/gi, ""));
}
