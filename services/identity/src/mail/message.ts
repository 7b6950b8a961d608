// Our mails: plain text and the same as simple HTML, in the language of the account.

import type { Language } from "@svc/proto";
export type Message = { subject: string; text: string; html: string };
type Paragraph = string | { strong: string };
/** What a template writes in one language. */
export type Draft = { subject: string; paragraphs: readonly Paragraph[] };

const tags: Readonly<Record<Language, string>> = { en: "en", zh: "zh-Hans" };

/** The text and the HTML of a draft, escaped in the HTML. */
export function toMessage({ subject, paragraphs }: Draft, language: Language): Message {
  const lines = paragraphs.map((paragraph) =>
    typeof paragraph === "string" ? paragraph : `    ${paragraph.strong}`,
  );
  const blocks = paragraphs.map((paragraph) =>
    typeof paragraph === "string"
      ? `<p>${escapeHtml(paragraph)}</p>`
      : `<p style="font-size:28px;letter-spacing:4px"><strong>${escapeHtml(paragraph.strong)}</strong></p>`,
  );
  const body = `<body style="font-family:sans-serif;line-height:1.5">${blocks.join("")}</body>`;
  return {
    subject,
    text: `${lines.join("\n\n")}\n`,
    html: `<!doctype html><html lang="${tags[language]}"><head><meta charset="utf-8"></head>${body}</html>`,
  };
}

function escapeHtml(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => names[character] ?? character);
}
