// A real SMTP server that stores what it receives and can be set to reject.

import type { AddressInfo } from "node:net";
import { until } from "@svc/local-stack/testing";
import { SMTPServer } from "smtp-server";

type SunkMail = { to: string; subject: string; source: string };

export type SmtpSink = {
  port: number;
  mails: SunkMail[];
  /** The reply of the relay to every recipient; accepts when undefined. */
  refuseWith: string | undefined;
  /** The reply of the relay to the sender, before any recipient; accepts when undefined. */
  refuseSenderWith: string | undefined;
  /** How many senders were received. */
  senders: number;
  /** The code in the newest mail to an address. */
  codeTo: (address: string) => string;
  /** The newest mail to an address once there are `count` of them. */
  awaitMail: (address: string, count?: number) => Promise<SunkMail>;
  stop: () => Promise<void>;
};

type SinkOptions = {
  startTls?: boolean;
  implicitTls?: boolean;
  auth?: { user: string; password: string };
};

export async function startSmtpSink(options: SinkOptions = {}): Promise<SmtpSink> {
  const server = new SMTPServer({
    disableReverseLookup: true,
    secure: options.implicitTls ?? false,
    closeTimeout: 200,
    disabledCommands: [...(options.startTls ? [] : ["STARTTLS"]), ...(options.auth ? [] : ["AUTH"])],
    allowInsecureAuth: true,
    onAuth: (given, _session, done) => {
      const isKnown = given.username === options.auth?.user && given.password === options.auth?.password;
      done(isKnown ? null : new Error("Invalid login"), isKnown ? { user: given.username } : {});
    },
    onMailFrom: (_address, _session, done) => {
      sink.senders += 1;
      if (sink.refuseSenderWith === undefined) return done();
      done(Object.assign(new Error(sink.refuseSenderWith), { responseCode: 550 }));
    },
    onRcptTo: (_address, _session, done) => {
      if (sink.refuseWith === undefined) return done();
      done(Object.assign(new Error(sink.refuseWith), { responseCode: 550 }));
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const source = Buffer.concat(chunks).toString();
        const subject = /^Subject: (.*)$/m.exec(source)?.[1]?.trim() ?? "";
        for (const { address } of session.envelope.rcptTo) sink.mails.push({ to: address, subject, source });
        done();
      });
    },
  });
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const to = (address: string) => sink.mails.filter((mail) => mail.to === address);
  const sink: SmtpSink = {
    port: (server.server.address() as AddressInfo).port,
    mails: [],
    refuseWith: undefined,
    refuseSenderWith: undefined,
    senders: 0,
    codeTo: (address) => {
      const code = /^(\d{6}) is your code$/.exec(to(address).at(-1)?.subject ?? "")?.[1];
      if (!code) throw new Error(`no code was mailed to ${address}`);
      return code;
    },
    awaitMail: async (address, count = 1) => {
      await until(() => to(address).length >= count);
      return to(address).at(-1) as SunkMail;
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return sink;
}
