// Our mails: plain text and the same as simple HTML, in the language of the account. The words are in words/.

import type { CodePurpose } from "../database.ts";
import { english } from "./templates/english.ts";
import { simplifiedChinese } from "./templates/simplified-chinese.ts";

export type Language = "en" | "zh";
export type Letter = { subject: string; text: string; html: string };
export type Paragraph = string | { strong: string };
export type Draft = { subject: string; paragraphs: readonly Paragraph[] };

/** What a letter of each kind is told in one language. */
export type Words = {
  code: (about: { code: string; validMinutes: number; purpose: CodePurpose }) => Draft;
  emailChanged: (about: { newAddress: string }) => Draft;
  emailRemoved: () => Draft;
  codesLocked: (about: { moment: string }) => Draft;
};

const words: Readonly<Record<Language, Words>> = { en: english, zh: simplifiedChinese };
const tags: Readonly<Record<Language, string>> = { en: "en", zh: "zh-Hans" };

/** A code and what it is for. The subject leads with the code, so that it shows in a notification. */
export function codeLetter(
  about: { code: string; validMinutes: number; purpose: CodePurpose },
  language: Language = "en",
): Letter {
  return toLetter(words[language].code(about), language);
}

/** Tells the address that was replaced where the account went. */
export function emailChangedLetter(about: { newAddress: string }, language: Language = "en"): Letter {
  return toLetter(words[language].emailChanged(about), language);
}

/** Tells a verified address that it is one no more, though no other has been proved. */
export function emailRemovedLetter(language: Language = "en"): Letter {
  return toLetter(words[language].emailRemoved(), language);
}

/** Tells that somebody guessed codes. `until` is RFC 3339. */
export function codesLockedLetter({ until }: { until: string }, language: Language = "en"): Letter {
  const moment = `${until.slice(0, 10)} ${until.slice(11, 16)} UTC`;
  return toLetter(words[language].codesLocked({ moment }), language);
}

/** The text and the HTML of a draft. Whatever it names is escaped in the HTML. */
export function toLetter({ subject, paragraphs }: Draft, language: Language): Letter {
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
