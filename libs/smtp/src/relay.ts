// The SMTP relay (docs/reference/settings.md): implicit TLS on port 465, STARTTLS elsewhere.

import { isPlainAddress, wireAddress } from "./address.ts";
import type { RelaySettings } from "./config.ts";
import { openConversation } from "./session.ts";

/** One mail; without HTML it is plain text. */
export type Message = { subject: string; text: string; html?: string };

/** Sends mails; every failure is an Error with the reply of the relay. */
export type Relay = {
  /** Opens the conversation as far as the sender: a failure reveals nothing about the recipient. */
  open: (to: string) => Promise<OpenRelay>;
  send: (to: string, message: Message) => Promise<void>;
};

/** A conversation that waits for its recipient and message. */
export type OpenRelay = { send: (to: string, message: Message) => Promise<void>; close: () => void };

// Loaded with the first mail: a process that sends none does without 5 MB.
async function openWriter() {
  const { createTransport } = await import("nodemailer");
  return createTransport({
    ...{ streamTransport: true, buffer: true, newline: "windows" },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
}

/** Each mail has its own connection: mails are few, and an idle connection would go stale. */
export function createRelay(settings: RelaySettings): Relay {
  const write = async (to: string, { subject, text, html }: Message): Promise<Buffer> => {
    const headers = { "Auto-Submitted": "auto-generated" };
    const recipient = { name: "", address: to };
    const writer = await openWriter();
    const { message } = await writer.sendMail({
      ...{ from: settings.from, to: recipient, subject, text, ...(html !== undefined && { html }), headers },
    });
    if (!Buffer.isBuffer(message)) throw new Error("the message was not written to memory");
    return message;
  };
  const open: Relay["open"] = async (to) => {
    if (!isPlainAddress(to)) throw new Error("the recipient is not one plain address");
    const { needsUtf8 } = wireAddress(to);
    const conversation = await openConversation(settings, { from: bareAddress(settings.from), needsUtf8 });
    return {
      send: async (recipient, message) => {
        if (!isPlainAddress(recipient)) throw new Error("the recipient is not one plain address");
        await conversation.give(wireAddress(recipient).address, await write(recipient, message));
      },
      close: conversation.close,
    };
  };
  return {
    open,
    send: async (to, message) => {
      const opened = await open(to);
      try {
        await opened.send(to, message);
      } finally {
        opened.close();
      }
    },
  };
}

/** `svc <svc@example.org>` names its mailbox in angle brackets. */
function bareAddress(from: string): string {
  return /<([^<>]+)>\s*$/.exec(from)?.[1] ?? from.trim();
}
