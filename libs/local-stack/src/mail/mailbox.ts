import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findText, writeFileAtomic } from "../atomic-file.ts";
import { type CaughtMail, parseMail } from "./message.ts";

/** The oldest mails go when there are more than this. */
const keepMails = 1_000;

export type Mailbox = {
  /** Stores one mail whole; the name is `<ISO time>-<n>.eml`. Returns its id. */
  add: (source: Buffer, envelope: { from: string; to: readonly string[] }) => string;
  /** The newest first. */
  list: () => Promise<CaughtMail[]>;
  find: (id: string) => Promise<CaughtMail | undefined>;
  /** The bytes as they arrived behind the two headers of the envelope. */
  findSource: (id: string) => string | undefined;
};

const idPattern = /^[0-9TZ:.-]+$/;

/** A folder of `.eml` files: it is the only state, so another process may read it as well. */
export function openMailbox(dir: string): Mailbox {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const parsed = new Map<string, CaughtMail>();
  const names = () =>
    readdirSync(dir)
      .filter((name) => name.endsWith(".eml"))
      .sort();
  let counter = 0;

  const read = async (id: string): Promise<CaughtMail | undefined> => {
    const known = parsed.get(id);
    if (known) return known;
    const file = join(dir, `${id}.eml`);
    const source = findText(file);
    if (source === undefined) return undefined;
    const mail = await parseMail(readFileSync(file), { id, file });
    parsed.set(id, mail);
    return mail;
  };

  return {
    add: (source, { from, to }) => {
      counter += 1;
      const id = `${new Date().toISOString()}-${counter}`;
      const envelope = [`Return-Path: <${from}>`, ...to.map((address) => `Delivered-To: ${address}`)];
      const head = Buffer.from(`${envelope.join("\r\n")}\r\n`);
      writeFileAtomic(join(dir, `${id}.eml`), Buffer.concat([head, source]));
      for (const name of names().slice(0, -keepMails)) {
        rmSync(join(dir, name), { force: true });
        parsed.delete(name.slice(0, -4));
      }
      return id;
    },
    list: async () => {
      const mails = await Promise.all(names().map((name) => read(name.slice(0, -4))));
      return mails.filter((mail) => mail !== undefined).toReversed();
    },
    find: async (id) => (idPattern.test(id) ? read(id) : undefined),
    findSource: (id) => (idPattern.test(id) ? findText(join(dir, `${id}.eml`)) : undefined),
  };
}
