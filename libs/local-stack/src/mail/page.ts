import type { CaughtMail } from "./message.ts";

const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}

const style = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .4rem .8rem .4rem 0 }
tr { border-bottom: 1px solid #ddd } iframe { width: 100%; height: 32rem; border: 1px solid #ccc; background: #fff }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f6f6f6; padding: 1rem }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd } pre { background: #222 } a { color: #8bf } }
`;

function page(title: string, body: string): string {
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>` +
    `<meta name="viewport" content="width=device-width"><style>${style}</style></head><body>${body}</body></html>`
  );
}

function mailLink(mail: CaughtMail, kind: "mail" | "html" | "source"): string {
  return `/${kind}/${encodeURIComponent(mail.id)}`;
}

/** The list of mails, newest first. */
export function listPage(mails: readonly CaughtMail[]): string {
  const rows = mails.map(
    (mail) =>
      `<tr><td><a href="${mailLink(mail, "mail")}">${escapeHtml(mail.subject || "(no subject)")}</a></td>` +
      `<td>${escapeHtml(mail.to.join(", "))}</td><td>${escapeHtml(mail.date)}</td></tr>`,
  );
  const table = `<table><thead><tr><th>Subject</th><th>To</th><th>Date</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
  const empty = "<p>No mail yet. Every mail that svc sends appears here; nothing leaves this machine.</p>";
  return page("Mail", `<h1>Mail</h1>${mails.length > 0 ? table : empty}`);
}

/** One mail: its text, and its HTML part in a frame that may run nothing and load nothing. */
export function mailPage(mail: CaughtMail): string {
  const facts = [
    ["From", mail.from],
    ["To", mail.to.join(", ")],
    ["Date", mail.date],
  ].map(([name, value]) => `<tr><th>${name}</th><td>${escapeHtml(value ?? "")}</td></tr>`);
  const html = mail.html
    ? `<h2>HTML</h2><iframe sandbox title="HTML part" src="${mailLink(mail, "html")}"></iframe>`
    : "";
  const text = mail.text ? `<h2>Text</h2><pre>${escapeHtml(mail.text)}</pre>` : "";
  return page(
    mail.subject || "Mail",
    `<p><a href="/">All mail</a></p><h1>${escapeHtml(mail.subject || "(no subject)")}</h1>` +
      `<table>${facts.join("")}</table>${text}${html}<p><a href="${mailLink(mail, "source")}">Source</a></p>`,
  );
}
