// The words of our mails: plain text and the same as simple HTML.

export type Letter = { subject: string; text: string; html: string };

/** A code and what it is for. The subject leads with the code, so that it shows in a notification. */
export function codeLetter({ code, validMinutes }: { code: string; validMinutes: number }): Letter {
  return letter(`${code} is your code`, [
    "Your code is:",
    { strong: code },
    `It is valid for ${validMinutes} minutes. Type it on the page where you asked for it, and tell it to nobody.`,
    "If you did not ask for a code, ignore this mail: without the code nothing changes.",
  ]);
}

/** Tells the address that was replaced where the account went. */
export function emailChangedLetter({ newAddress }: { newAddress: string }): Letter {
  return letter("Your e-mail address was changed", [
    `The e-mail address of your account was changed to ${newAddress}, and all other devices were signed out.`,
    "If that was not you, tell the people who run this server at once.",
  ]);
}

/** Tells that somebody guessed codes. `until` is RFC 3339. */
export function codesLockedLetter({ until }: { until: string }): Letter {
  const moment = `${until.slice(0, 10)} ${until.slice(11, 16)} UTC`;
  return letter("Codes are locked for your account", [
    `Too many wrong codes were typed for your account. Codes by mail are locked until ${moment}.`,
    "Other ways to sign in still work. If that was not you, somebody may be guessing: nobody got in this way.",
  ]);
}

type Paragraph = string | { strong: string };

function letter(subject: string, paragraphs: readonly Paragraph[]): Letter {
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
    html: `<!doctype html><html lang="en"><head><meta charset="utf-8"></head>${body}</html>`,
  };
}

function escapeHtml(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => names[character] ?? character);
}
