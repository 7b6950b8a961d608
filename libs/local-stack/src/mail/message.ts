import PostalMime, { type Address } from "postal-mime";

/** One caught mail as `/messages` shows it. `to` holds the addresses it was really delivered to. */
export type CaughtMail = {
  id: string;
  from: string;
  to: string[];
  subject: string;
  /** RFC 3339. */
  date: string;
  text: string;
  /** Empty for a mail without an HTML part. */
  html: string;
  /** Absolute path of the `.eml` file. */
  file: string;
};

function addresses(list: readonly Address[] | undefined): string[] {
  return (list ?? []).flatMap((entry) => (entry.address ? [entry.address] : addresses(entry.group)));
}

/** Reads a mail that the sink stored; `id` is its file name without `.eml`. */
export async function parseMail(bytes: Buffer, place: { id: string; file: string }): Promise<CaughtMail> {
  const mail = await PostalMime.parse(bytes);
  const delivered = mail.headers
    .filter((header) => header.key === "delivered-to")
    .map((header) => header.value);
  return {
    ...place,
    from: mail.from?.address ?? "",
    to: delivered.length > 0 ? delivered : addresses(mail.to),
    subject: mail.subject ?? "",
    date: mail.date ?? "",
    text: mail.text ?? "",
    html: mail.html ?? "",
  };
}
