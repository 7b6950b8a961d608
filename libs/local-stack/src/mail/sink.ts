import type { AddressInfo, Server } from "node:net";
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server";
import { StackError } from "../error.ts";
import { type Mailbox, openMailbox } from "./mailbox.ts";
import { createMailPage } from "./web.ts";

type MailSinkOptions = {
  /** Folder of the `.eml` files; made when missing. */
  dir: string;
  /** 0 takes a free port. */
  smtpPort: number;
  /** 0 takes a free port. */
  pagePort: number;
  /** Address that the page listens on; loopback unless given. Requests for other hosts than localhost get 403 on each. */
  pageHost?: string;
};

const loopback = "127.0.0.1";

export type MailSink = { smtpUrl: string; pageUrl: string; stop: () => Promise<void> };

const largestBytes = 25 * 1024 * 1024;

async function readAll(stream: SMTPServerDataStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  if (stream.sizeExceeded) {
    throw Object.assign(new Error("Message exceeds 25 MiB"), { responseCode: 552 });
  }
  return Buffer.concat(chunks);
}

async function store(
  mailbox: Mailbox,
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
): Promise<string> {
  const { mailFrom, rcptTo } = session.envelope;
  const source = await readAll(stream);
  return mailbox.add(source, {
    from: mailFrom ? mailFrom.address : "",
    to: rcptTo.map((recipient) => recipient.address),
  });
}

function createSmtp(mailbox: Mailbox): SMTPServer {
  const server = new SMTPServer({
    name: "localhost",
    banner: "svc mail sink",
    disabledCommands: ["AUTH", "STARTTLS"],
    disableReverseLookup: true,
    size: largestBytes,
    closeTimeout: 1_000,
    onData: (stream, session, done) => {
      store(mailbox, stream, session).then(
        (id) => done(null, `kept as ${id}`),
        (error: Error) => done(error),
      );
    },
  });
  // A client that breaks off is its own business.
  server.on("error", () => undefined);
  return server;
}

type Listening = { host: string; port: number; what: string };

function listen(server: Server, { host, port, what }: Listening): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(new StackError(`the ${what} cannot listen on port ${port}: ${error.message}`)),
    );
    server.listen({ host, port }, () => resolve((server.address() as AddressInfo).port));
  });
}

/**
 * Catches every mail sent to it over plain SMTP on loopback and shows it on a page (docs/reference/local-stack.md#parts). JSON of all
 * mails: `/messages`, of one recipient: `/messages?to=ADDRESS`.
 */
export async function startMailSink(options: MailSinkOptions): Promise<MailSink> {
  const mailbox = openMailbox(options.dir);
  const smtp = createSmtp(mailbox);
  const web = createMailPage(mailbox);
  const stop = async () => {
    web.closeAllConnections();
    await Promise.all([
      new Promise<void>((resolve) => web.close(() => resolve())),
      new Promise<void>((resolve) => smtp.close(() => resolve())),
    ]);
  };
  try {
    const smtpPort = await listen(smtp.server, { host: loopback, port: options.smtpPort, what: "mail sink" });
    const { pageHost: host = loopback } = options;
    const pagePort = await listen(web, { host, port: options.pagePort, what: "mail page" });
    return { smtpUrl: `smtp://127.0.0.1:${smtpPort}`, pageUrl: `http://127.0.0.1:${pagePort}`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
