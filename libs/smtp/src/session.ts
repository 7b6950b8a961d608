// A conversation with the relay as far as MAIL FROM, and a message later (RFC 5321; STARTTLS RFC 3207; AUTH RFC 4954).
// The two steps are separate so that the relay is tried before the address is looked up (docs/reference/sign-in.md#no-oracle).

import { connect as connectPlain, isIP, type Socket } from "node:net";
import { hostname } from "node:os";
import { connect as connectSecure, type TLSSocket } from "node:tls";
import type { RelaySettings } from "./config.ts";
import { createSmtpConnection, type Line, type Reply } from "./connection.ts";

type Conversation = {
  /** Sends one message. Throws with the reply when the relay rejects it. */
  give: (recipient: string, message: Buffer) => Promise<void>;
  close: () => void;
};

type Sender = { from: string; needsUtf8: boolean };

const stepTimeoutMs = 10_000;

/** Throws when the relay is down or not secure enough, or rejects our credentials or sender. */
export async function openConversation(settings: RelaySettings, sender: Sender): Promise<Conversation> {
  const stepMs = Math.min(stepTimeoutMs, settings.timeoutMs);
  const { host, port, implicitTls: isImplicit } = settings;
  let socket: Socket = isImplicit
    ? connectSecure({ port, ...tlsOf(settings) })
    : connectPlain({ host, port });
  const limit = (work: () => Promise<void>) => within(settings.timeoutMs, () => socket.destroy(), work);
  let line = createSmtpConnection(socket, stepMs);
  const conversation: Conversation = {
    give: (recipient, message) => limit(() => giveMessage(line, recipient, message)),
    close: () => {
      if (socket.writable) socket.end("QUIT\r\n");
      socket.setTimeout(stepMs, () => socket.destroy());
    },
  };
  try {
    await limit(async () => {
      expect(await line.reply(), 220);
      let offers = await greet(line);
      if (!isImplicit && offers.has("STARTTLS")) {
        expect(await line.command("STARTTLS"), 220);
        socket = await secure(line.release(), settings, stepMs);
        line = createSmtpConnection(socket, stepMs);
        offers = await greet(line);
      } else if (!isImplicit && settings.requireTls) {
        throw new Error("the relay does not offer STARTTLS, which is required");
      }
      if (settings.username !== "") await authenticate(line, settings, offers);
      await nameSender(line, sender, offers);
    });
    return conversation;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function tlsOf(settings: RelaySettings) {
  return {
    ...(isIP(settings.host) === 0 && { servername: settings.host }),
    host: settings.host,
    minVersion: "TLSv1.2" as const,
    // Where TLS is not required, an unverified certificate is no worse than plain text.
    rejectUnauthorized: settings.requireTls,
  };
}

async function secure(socket: Socket, settings: RelaySettings, stepMs: number): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  // The secured socket reports errors of the plain socket too.
  socket.on("error", () => undefined);
  const secured = connectSecure({ socket, ...tlsOf(settings) }, () => resolve(secured));
  secured.setTimeout(stepMs, () => secured.destroy(new Error("the relay did not finish the TLS handshake")));
  secured.on("error", reject);
  secured.once("close", () => reject(new Error("the relay closed the connection")));
  try {
    return await promise;
  } finally {
    secured.removeAllListeners("timeout");
  }
}

const host = hostname();
const ownName = /^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/.test(host) ? host : "[127.0.0.1]";

/** The extensions that the relay offers, by keyword in capitals. */
async function greet(line: Line): Promise<ReadonlyMap<string, readonly string[]>> {
  const reply = await line.command(`EHLO ${ownName}`);
  if (reply.code >= 500) {
    expect(await line.command(`HELO ${ownName}`), 250);
    return new Map();
  }
  expect(reply, 250);
  return new Map(
    reply.lines.slice(1).map((text) => {
      const [keyword = "", ...values] = text.toUpperCase().split(/[ =]+/);
      return [keyword, values];
    }),
  );
}

async function authenticate(
  line: Line,
  { username, password }: RelaySettings,
  offers: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const encode = (text: string) => Buffer.from(text).toString("base64");
  const ways = offers.get("AUTH") ?? [];
  if (ways.includes("PLAIN")) {
    expect(await line.command(`AUTH PLAIN ${encode(`\0${username}\0${password}`)}`), 235);
  } else if (ways.includes("LOGIN")) {
    expect(await line.command("AUTH LOGIN"), 334);
    expect(await line.command(encode(username)), 334);
    expect(await line.command(encode(password)), 235);
  } else {
    throw new Error("the relay offers neither AUTH PLAIN nor AUTH LOGIN");
  }
}

async function nameSender(
  line: Line,
  { from, needsUtf8 }: Sender,
  offers: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  if (needsUtf8 && !offers.has("SMTPUTF8"))
    throw new Error("the relay does not accept addresses beyond ASCII (SMTPUTF8)");
  expect(await line.command(`MAIL FROM:<${from}>${needsUtf8 ? " SMTPUTF8" : ""}`), 250);
}

async function giveMessage(line: Line, recipient: string, message: Buffer): Promise<void> {
  expect(await line.command(`RCPT TO:<${recipient}>`), 250, 251);
  expect(await line.command("DATA"), 354);
  line.write(stuffed(message));
  expect(await line.reply(), 250);
}

/** Lines end in CRLF, one that begins with a dot gets another, and a lone dot ends the message. */
function stuffed(message: Buffer): Buffer {
  const text = message.toString("latin1").replace(/\r?\n/g, "\r\n").replace(/^\./gm, "..");
  return Buffer.from(`${text}${text.endsWith("\r\n") ? "" : "\r\n"}.\r\n`, "latin1");
}

function expect(reply: Reply, ...wanted: readonly number[]): void {
  if (!wanted.includes(reply.code)) throw new Error(`${reply.code} ${reply.lines.join(" ").slice(0, 300)}`);
}

async function within(limitMs: number, stop: () => void, work: () => Promise<void>): Promise<void> {
  const { promise: timeUp, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new Error(`the relay took longer than ${limitMs} ms`));
    stop();
  }, limitMs);
  const working = work();
  try {
    await Promise.race([working, timeUp]);
  } finally {
    clearTimeout(timer);
    working.catch(() => undefined);
  }
}
