import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import type { RelaySettings } from "./config.ts";
import { createRelay } from "./relay.ts";
import { type SmtpSink, startSmtpSink } from "./testing/smtp-sink.ts";

const mail = { subject: "012345 is your code", text: "012345\n", html: "<p>012345</p>" };

describe("the relay", () => {
  let plain: SmtpSink;
  let secure: SmtpSink;
  let closed: SmtpSink;
  before(async () => {
    [plain, secure, closed] = await Promise.all([
      startSmtpSink(),
      startSmtpSink({ startTls: true }),
      startSmtpSink({ auth: { user: "svc", password: "right" } }),
    ]);
  });
  after(() => Promise.all([plain, secure, closed].map((sink) => sink.stop())));
  const relayTo = (port: number, given: Partial<RelaySettings> = {}) =>
    createRelay({
      host: "127.0.0.1",
      port,
      from: "svc <svc@example.org>",
      username: "",
      password: "",
      requireTls: false,
      implicitTls: false,
      timeoutMs: 5_000,
      ...given,
    });

  test("without TLS is rejected where TLS is required", async () => {
    const before = plain.mails.length;
    await assert.rejects(relayTo(plain.port, { requireTls: true }).send("a@example.org", mail));
    assert.equal(plain.mails.length, before);
  });

  test("with an untrusted certificate is rejected where TLS is required", async () => {
    await assert.rejects(relayTo(secure.port, { requireTls: true }).send("a@example.org", mail));
    assert.equal(secure.mails.length, 0);
  });

  test("is used over TLS when it offers STARTTLS", async () => {
    await relayTo(secure.port).send("a@example.org", mail);
    assert.equal(secure.mails[0]?.subject, "012345 is your code");
  });

  test("receives the user name and the password", async () => {
    await relayTo(closed.port, { username: "svc", password: "right" }).send("a@example.org", mail);
    assert.equal(closed.mails.length, 1);
    await assert.rejects(
      relayTo(closed.port, { username: "svc", password: "wrong" }).send("a@example.org", mail),
    );
  });

  test("receives one recipient, whatever the address looks like", async () => {
    await relayTo(plain.port).send("one@example.org", mail);
    assert.equal(plain.mails.at(-1)?.to, "one@example.org");
    await assert.rejects(relayTo(plain.port).send("a@example.org\r\nRCPT TO:<b@example.org>", mail));
    assert.ok(!plain.mails.some((mail) => mail.to === "b@example.org"));
  });

  test("receives the sender before any recipient, and rejects it alike for all of them", async () => {
    plain.refuseSenderWith = "5.7.1 no relaying";
    const senders = plain.senders;
    await assert.rejects(relayTo(plain.port).open("anybody@example.org"), /550 5\.7\.1 no relaying/);
    plain.refuseSenderWith = undefined;
    assert.equal(plain.senders, senders + 1);
    const opened = await relayTo(plain.port).open("anybody@example.org");
    await opened.send("somebody@example.org", mail);
    opened.close();
    assert.equal(plain.mails.at(-1)?.to, "somebody@example.org");
  });

  test("receives no mail that was opened and not sent", async () => {
    const { length } = plain.mails;
    const opened = await relayTo(plain.port).open("anybody@example.org");
    opened.close();
    assert.equal(plain.mails.length, length);
  });

  test("with TLS from the first byte is used", async () => {
    const implicit = await startSmtpSink({ implicitTls: true });
    await relayTo(implicit.port, { implicitTls: true }).send("a@example.org", mail);
    assert.equal(implicit.mails.length, 1);
    const strict = { implicitTls: true, requireTls: true };
    await assert.rejects(relayTo(implicit.port, strict).send("a@example.org", mail), /certificate/);
    assert.equal(implicit.mails.length, 1);
    await implicit.stop();
  });

  test("receives lines that begin with a dot unchanged", async () => {
    const dotted = { subject: "dots", text: ".\n..a\n.b\n", html: "<p>.</p>" };
    await relayTo(plain.port).send("a@example.org", dotted);
    assert.match(plain.mails.at(-1)?.source ?? "", /\r\n\.\r\n\.\.a\r\n\.b\r\n/);
  });

  test("receives a domain in ASCII, and a name beyond ASCII only when it supports SMTPUTF8", async () => {
    await relayTo(plain.port).send("a@bücher.example", mail);
    assert.match(plain.mails.at(-1)?.to ?? "", /^a@(xn--bcher-kva|bücher)\.example$/);
    await relayTo(plain.port).send("jürgen@example.org", mail);
    assert.equal(plain.mails.at(-1)?.to, "jürgen@example.org");
    const old = await startScript([
      "220 hello",
      "250 old relay",
      "250 sender ok",
      "250 ok",
      "354 go",
      "250 taken",
    ]);
    await relayTo(old.port).send("a@example.org", mail);
    const received = await startScript(["220 hello", "250 old relay"]);
    await assert.rejects(relayTo(received.port).send("jürgen@example.org", mail), /SMTPUTF8/);
    await Promise.all([old.stop(), received.stop()]);
  });

  test("that sends plain-text data after STARTTLS is rejected", async () => {
    const sly = await startScript(["220 hello", "250-sly\r\n250 STARTTLS", "220 go\r\n250 as if secured"]);
    await assert.rejects(relayTo(sly.port).send("a@example.org", mail), /sent data before TLS/);
    await sly.stop();
  });

  test("that does not offer STARTTLS receives nothing where TLS is required", async () => {
    const hidden = await startScript(["220 hello", "250-plain\r\n250 AUTH PLAIN"]);
    const settings = { requireTls: true, username: "svc", password: "secret" };
    await assert.rejects(relayTo(hidden.port, settings).send("a@example.org", mail), /STARTTLS/);
    assert.ok(!hidden.heard().includes("AUTH"));
    await hidden.stop();
  });

  const oddities: Record<string, [says: readonly string[], error: RegExp]> = {
    "speaks another protocol": [["SSH-2.0-OpenSSH_9.2"], /does not speak SMTP/],
    "is busy": [["421 try later"], /421 try later/],
    "never ends its reply": [[`220-${"x".repeat(1_000)}\r\n`.repeat(100)], /sent too much/],
    "rejects the message": [["220 a", "250 b", "250 c", "250 d", "354 e", "554 spam"], /554 spam/],
  };
  for (const [fact, [says, error]] of Object.entries(oddities)) {
    test(`that ${fact} is reported with its reply`, async () => {
      const odd = await startScript(says);
      await assert.rejects(relayTo(odd.port).send("a@example.org", mail), error);
      await odd.stop();
    });
  }

  test("that sends nothing times out", async () => {
    const mute = createServer();
    await once(mute.listen(0, "127.0.0.1"), "listening");
    const { port } = mute.address() as AddressInfo;
    await assert.rejects(relayTo(port, { timeoutMs: 200 }).send("a@example.org", mail));
    mute.close();
  });
});

/** A relay that answers each line with the next of its replies, whatever the command; a message counts as one line. */
async function startScript(replies: readonly string[]) {
  let heard = "";
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    const left = [...replies];
    const say = () => {
      const next = left.shift();
      if (next !== undefined) socket.write(`${next}\r\n`);
      return next;
    };
    let isMessage = say()?.startsWith("354") ?? false;
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      heard += chunk.toString();
      if (isMessage && !heard.endsWith("\r\n.\r\n")) return;
      isMessage = say()?.startsWith("354") ?? false;
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    heard: () => heard,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
