import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { createTransport } from "nodemailer";
import { scratchDir } from "../testing/scratch.ts";
import type { CaughtMail } from "./message.ts";
import { type MailSink, startMailSink } from "./sink.ts";

async function withSink(dir: string, use: (sink: MailSink) => Promise<void>): Promise<void> {
  const sink = await startMailSink({ dir, smtpPort: 0, pagePort: 0 });
  try {
    await use(sink);
  } finally {
    await sink.stop();
  }
}

async function getText(url: string): Promise<{ status: number; text: string; policy: string }> {
  const response = await fetch(url);
  const policy = response.headers.get("content-security-policy") ?? "";
  return { status: response.status, text: await response.text(), policy };
}

async function messages(sink: MailSink, query = ""): Promise<CaughtMail[]> {
  return JSON.parse((await getText(`${sink.pageUrl}/messages${query}`)).text) as CaughtMail[];
}

test("a sent mail becomes one private file and one row of /messages, and survives a restart", async () => {
  using scratch = scratchDir();
  await withSink(scratch.path, async (sink) => {
    const mailer = createTransport({ url: sink.smtpUrl });
    await mailer.sendMail({
      from: "svc <no-reply@svc.localhost>",
      to: "Änne <anne@example.org>",
      bcc: "hidden@example.org",
      subject: "Dein Code: 123456 ✓",
      text: "Code 123456\n.\n.. dots stay",
      html: "<b>Code 123456</b>",
    });
    mailer.close();
  });
  const [file, ...others] = readdirSync(scratch.path);
  assert.deepEqual(others, []);
  assert.match(file ?? "", /^\d{4}-\d\d-\d\dT[\d:.]+Z-1\.eml$/);
  assert.equal(statSync(join(scratch.path, file ?? "")).mode & 0o777, 0o600);
  await withSink(scratch.path, async (sink) => {
    const [mail] = await messages(sink);
    assert.equal(mail?.subject, "Dein Code: 123456 ✓");
    assert.equal(mail.from, "no-reply@svc.localhost");
    assert.deepEqual(mail.to.toSorted(), ["anne@example.org", "hidden@example.org"]);
    assert.equal(mail.text.trim().replaceAll("\r", ""), "Code 123456\n.\n.. dots stay");
    assert.match(mail.html, /<b>Code 123456<\/b>/);
    assert.equal(mail.file, join(scratch.path, file ?? ""));
    assert.ok(!Number.isNaN(Date.parse(mail.date)));
    assert.equal((await messages(sink, "?to=anne@example.org")).length, 1);
    assert.equal((await messages(sink, "?to=other@example.org")).length, 0);
    assert.match(readFileSync(mail.file, "utf8"), /^Return-Path: <no-reply@svc\.localhost>\r\n/);
  });
});

test("the pages escape what a mail says and give its HTML no rights", async () => {
  using scratch = scratchDir();
  await withSink(scratch.path, async (sink) => {
    const mailer = createTransport({ url: sink.smtpUrl });
    const evil = `<script>alert("x")</script>`;
    await mailer.sendMail({
      from: "a@example.org",
      to: "b@example.org",
      subject: evil,
      text: evil,
      html: evil,
    });
    mailer.close();
    const [mail] = await messages(sink);
    assert.ok(mail);
    const list = await getText(sink.pageUrl);
    const view = await getText(`${sink.pageUrl}/mail/${encodeURIComponent(mail.id)}`);
    for (const page of [list, view]) {
      assert.ok(!page.text.includes("<script>"));
      assert.match(page.text, /&lt;script&gt;alert\(&quot;x&quot;\)/);
    }
    assert.match(view.text, /<iframe sandbox /);
    const html = await getText(`${sink.pageUrl}/html/${encodeURIComponent(mail.id)}`);
    assert.match(html.policy, /^sandbox; default-src 'none'/);
    const source = await getText(`${sink.pageUrl}/source/${encodeURIComponent(mail.id)}`);
    assert.match(source.text, /^Return-Path: <a@example\.org>/);
    for (const path of ["/mail/..%2F..%2Fetc%2Fpasswd", "/mail/none", "/html/"]) {
      assert.equal((await getText(`${sink.pageUrl}${path}`)).status, 404, path);
    }
  });
});

test("a page opened under a foreign host name is refused", async () => {
  using scratch = scratchDir();
  await withSink(scratch.path, async (sink) => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      request(`${sink.pageUrl}/messages`, { headers: { host: "evil.example" } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on("error", reject)
        .end();
    });
    assert.equal(status, 403);
  });
});

test("the page is on loopback, and in a container on all addresses, still for localhost alone", async () => {
  using scratch = scratchDir();
  const elsewhere = (sink: MailSink) => sink.pageUrl.replace("127.0.0.1", "127.0.0.2");
  await withSink(scratch.path, async (sink) => {
    await assert.rejects(getText(elsewhere(sink)), "it listens on 127.0.0.1 alone");
  });
  const open = { dir: scratch.path, smtpPort: 0, pagePort: 0, pageHost: "0.0.0.0" };
  const sink = await startMailSink(open);
  try {
    assert.equal((await getText(sink.pageUrl)).status, 200);
    assert.equal((await getText(elsewhere(sink))).status, 403);
  } finally {
    await sink.stop();
  }
});

test("a mail larger than 25 MiB is refused and not kept", async () => {
  using scratch = scratchDir();
  await withSink(scratch.path, async (sink) => {
    const mailer = createTransport({ url: sink.smtpUrl });
    const attachments = [{ filename: "big", content: Buffer.alloc(20 * 1024 * 1024) }];
    const sending = mailer.sendMail({ from: "a@example.org", to: "b@example.org", text: "big", attachments });
    await assert.rejects(sending, /552/);
    mailer.close();
    assert.deepEqual(readdirSync(scratch.path), []);
  });
});
