// Our mails: plain text and the same as simple HTML, in the language of the account.

import { type Language, type Sentence, say } from "@svc/proto/language";

export type Message = { subject: string; text: string; html: string };
export type Mail = {
  readonly subject: Sentence;
  readonly paragraphs: readonly (Sentence | { readonly strong: string })[];
};

const tags: Readonly<Record<Language, string>> = { en: "en", zh: "zh-Hans" };

/** The text and the HTML of a mail, escaped in the HTML. */
export function toMessage(
  mail: Mail,
  language: Language,
  values: Readonly<Record<string, string | number>>,
): Message {
  const fill = (sentence: Sentence) => say(sentence, language, values);
  const paragraphs = mail.paragraphs.map((one) =>
    "strong" in one
      ? { isStrong: true, text: fill({ en: one.strong, zh: one.strong }) }
      : { isStrong: false, text: fill(one) },
  );
  const lines = paragraphs.map(({ isStrong, text }) => (isStrong ? `    ${text}` : text));
  const blocks = paragraphs.map(({ isStrong, text }) =>
    isStrong
      ? `<p style="font-size:28px;letter-spacing:4px"><strong>${escapeHtml(text)}</strong></p>`
      : `<p>${escapeHtml(text)}</p>`,
  );
  const body = `<body style="font-family:sans-serif;line-height:1.5">${blocks.join("")}</body>`;
  return {
    subject: fill(mail.subject),
    text: `${lines.join("\n\n")}\n`,
    html: `<!doctype html><html lang="${tags[language]}"><head><meta charset="utf-8"></head>${body}</html>`,
  };
}

function escapeHtml(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => names[character] ?? character);
}
