import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { after, before, describe, test } from "node:test";
import type { RelaySettings } from "../config.ts";
import { type SmtpSink, startSmtpSink } from "../testing/smtp-sink.ts";
import { codeLetter } from "./letters.ts";
import { createRelay } from "./relay.ts";

const letter = codeLetter({ code: "012345", validMinutes: 10, purpose: "sign_in" });

test("a letter has the same words as text and as HTML, with HTML's own characters escaped", () => {
  assert.match(letter.text, /012345/);
  assert.match(letter.html, /<strong>012345<\/strong>/);
  assert.ok(!codeLetter({ code: "<b>", validMinutes: 1, purpose: "reauth" }).html.includes("<b>"));
});

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

  test("without transport security is refused where it is required", async () => {
    const before = plain.mails.length;
    await assert.rejects(relayTo(plain.port, { requireTls: true }).send("a@example.org", letter));
    assert.equal(plain.mails.length, before);
  });

  test("with a certificate that nobody vouches for is refused where security is required", async () => {
    await assert.rejects(relayTo(secure.port, { requireTls: true }).send("a@example.org", letter));
    assert.equal(secure.mails.length, 0);
  });

  test("is used over TLS when it offers it", async () => {
    await relayTo(secure.port).send("a@example.org", letter);
    assert.equal(secure.mails[0]?.subject, "012345 is your code");
  });

  test("gets the name and the password", async () => {
    await relayTo(closed.port, { username: "svc", password: "right" }).send("a@example.org", letter);
    assert.equal(closed.mails.length, 1);
    await assert.rejects(
      relayTo(closed.port, { username: "svc", password: "wrong" }).send("a@example.org", letter),
    );
  });

  test("gets one recipient, whatever the address looks like", async () => {
    await relayTo(plain.port).send("one@example.org", letter);
    assert.equal(plain.mails.at(-1)?.to, "one@example.org");
    await assert.rejects(relayTo(plain.port).send("a@example.org\r\nRCPT TO:<b@example.org>", letter));
    assert.ok(!plain.mails.some((mail) => mail.to === "b@example.org"));
  });

  test("that says nothing is given up in time", async () => {
    const mute = createServer();
    await once(mute.listen(0, "127.0.0.1"), "listening");
    const { port } = mute.address() as AddressInfo;
    await assert.rejects(relayTo(port, { timeoutMs: 200 }).send("a@example.org", letter));
    mute.close();
  });
});
