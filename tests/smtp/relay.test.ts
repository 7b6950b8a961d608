// Our mails through a real relay. SVC_SMTP_LANE names the postfix command, such as /usr/sbin/postfix.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { until } from "@svc/mesh/testing";
import { accounts, isFault, signIn } from "@svc/proto";
import { createRelay, type RelaySettings } from "@svc/smtp";
import { type SmtpSink, startSmtpSink } from "@svc/smtp/testing";
import { codeMessage } from "../../services/identity/src/mail/templates.ts";
import { type Fixture, startFixture } from "../../services/identity/src/testing/fixture.ts";
import { type Postfix, startPostfix } from "./postfix.ts";

const binary = process.env["SVC_SMTP_LANE"];
const anonymous = { principal: { kind: "anonymous" } as const };
let number = 0;
const newAddress = () => `lane${++number}@example.org`;

describe("Postfix takes our mails", () => {
  if (!binary || !existsSync(binary)) {
    const why = binary ? `there is no ${binary}` : "SVC_SMTP_LANE is not set";
    test("skipped: set SVC_SMTP_LANE to the postfix command, such as /usr/sbin/postfix", (t) => t.skip(why));
    return;
  }
  let mailbox: SmtpSink;
  let postfix: Postfix;
  let fixture: Fixture;
  before(async () => {
    mailbox = await startSmtpSink({ startTls: true });
    const extra = [
      "smtpd_delay_reject = no",
      "smtpd_sender_restrictions = check_sender_access inline:{refused.example=REJECT}",
      "smtpd_recipient_restrictions = check_recipient_access inline:{nobody@example.org=REJECT}",
    ];
    postfix = await startPostfix({ binary, nextHop: mailbox.port, extra });
    setDefaultCACertificates([...getCACertificates("default"), postfix.authority]);
    const secure = ["smtp.host=localhost", `smtp.port=${postfix.port}`, "smtp.require_tls=true"];
    fixture = await startFixture({ set: ["smtp.max_per_hour=1000000", ...secure] });
  });
  after(async () => {
    await fixture?.stop();
    postfix?.remove();
    await mailbox?.stop();
  });

  const relayTo = (given: Partial<RelaySettings>) =>
    createRelay({
      ...{ host: "localhost", port: postfix.port, from: "svc <svc@example.org>", username: "", password: "" },
      ...{ requireTls: true, implicitTls: false, timeoutMs: 10_000, ...given },
    });
  const mail = codeMessage({ code: "012345", validMinutes: 10, purpose: "sign_in" }, "zh");
  const startEmail = (email: string) => fixture.gateway.call(signIn.startEmail, { email }, anonymous);
  const faultOf = async (work: Promise<unknown>) => {
    const error: unknown = await work.catch((reason: unknown) => reason);
    return isFault(error) ? error.fault : "none";
  };

  test("a code reaches the mailbox over TLS that was verified, and signs in", async () => {
    const email = newAddress();
    const person = await fixture.person({ email, emailVerified: true });
    await startEmail(email);
    await mailbox.awaitMail(email);
    assert.match(mailbox.mails.at(-1)?.source ?? "", /with ESMTPS/);
    const code = mailbox.codeTo(email);
    assert.deepEqual(await fixture.gateway.call(signIn.verifyEmail, { email, code }, anonymous), {
      user_id: person.userId,
      role: "user",
    });
  });

  test("implicit TLS works too, and a Chinese mail arrives unchanged", async () => {
    const email = newAddress();
    await relayTo({ port: postfix.tlsPort, implicitTls: true }).send(email, mail);
    const { source } = await mailbox.awaitMail(email);
    const subject = /^Subject: ((?:.*\r\n )*.*)\r$/m.exec(source)?.[1] ?? "";
    const words = [...subject.matchAll(/=\?UTF-8\?([BQ])\?([^?]*)\?=/g)].map(([, way, text = ""]) =>
      way === "B"
        ? Buffer.from(text, "base64")
        : Buffer.from(
            text
              .replaceAll("_", " ")
              .replace(/=(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
            "latin1",
          ),
    );
    assert.equal(Buffer.concat(words).toString(), "012345 是您的验证码");
  });

  test("a certificate for another name is refused", async () => {
    await assert.rejects(relayTo({ host: "127.0.0.1" }).send(newAddress(), mail), /certificate|altnames/i);
  });

  test("a sender that Postfix refuses is 502 for a known and an unknown address alike", async () => {
    const secure = ["smtp.host=localhost", `smtp.port=${postfix.port}`, "smtp.from=svc@refused.example"];
    const other = await startFixture({ set: secure });
    const known = newAddress();
    await other.person({ email: known, emailVerified: true });
    for (const email of [known, newAddress()]) {
      const answer = await other.refused(signIn.startEmail, { email }, anonymous);
      assert.equal(answer.fault, "mail_undeliverable");
    }
    await other.stop();
  });

  test("a recipient that Postfix refuses is 502 for a signed-in caller, and is not revealed at a public operation", async () => {
    const email = "nobody@example.org";
    const person = await fixture.person();
    const answer = await fixture.refused(accounts.startEmail, { email }, { principal: person.principal });
    assert.equal(answer.fault, "mail_undeliverable");
    await fixture.person({ email, emailVerified: true });
    const failed = 'svc_mail_total{kind="code",result="failed"}';
    const before = await fixture.metric(failed);
    const [known, unknown] = [await startEmail(email), await startEmail(newAddress())];
    assert.deepEqual(known, unknown);
    await until(async () => (await fixture.metric(failed)) === before + 1);
  });

  test("an unreachable relay is 502 for every address, and recovers", async () => {
    const email = newAddress();
    await fixture.person({ email, emailVerified: true });
    postfix.stop();
    assert.equal(await faultOf(startEmail(email)), "mail_undeliverable");
    assert.equal(await faultOf(startEmail(newAddress())), "mail_undeliverable");
    postfix.start();
    await startEmail(email);
    await mailbox.awaitMail(email);
  });
});
