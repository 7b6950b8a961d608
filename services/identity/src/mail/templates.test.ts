import assert from "node:assert/strict";
import { test } from "node:test";
import { shortMoment } from "@svc/proto";
import type { CodePurpose } from "../database.ts";
import { causeOf } from "./crash-causes.ts";
import { toMessage } from "./message.ts";
import { codeMessage, codeUses, mails, passkeyOf } from "./templates.ts";

const purposes = Object.keys(codeUses) as CodePurpose[];
const code = (purpose: CodePurpose, language: "en" | "zh") =>
  codeMessage({ code: "012345", validMinutes: 10, purpose }, language);

for (const language of ["en", "zh"] as const) {
  test(`a mail with a code names its purpose, in ${language}`, () => {
    const mails = purposes.map((purpose) => code(purpose, language));
    assert.equal(new Set(mails.map(({ text }) => text)).size, purposes.length);
    for (const { subject, text, html } of mails) {
      assert.match(subject, /^012345 /);
      assert.match(text, /012345(.|\n)*10/);
      assert.match(html, /<strong>012345<\/strong>/);
    }
  });
}

test("a mail in one language has no words of the other", () => {
  const chinese = /\p{Script=Han}/u;
  const values = (language: "en" | "zh") => ({
    ...{ newAddress: "n***@e***.org", moment: shortMoment("2026-01-02T03:04:05.000Z"), target: "Ada" },
    ...{ validMinutes: 10, servers: 2, server: "spawn", passkey: passkeyOf("", language) },
    ...{ issuer: "https://sso.example.org", inviter: "Ada", link: "https://panel.example.org/invitations" },
    ...{ cause: causeOf("eula", language), label: "Chat", host: "chat.example.org" },
    ...{ pack: "skyblock", reason: "no licence", image: "registry.example.org/packs/one:1" },
  });
  const all = (language: "en" | "zh") => [
    ...purposes.map((purpose) => code(purpose, language)),
    ...Object.values(mails).map((mail) => toMessage(mail, language, values(language))),
  ];
  for (const { subject, text } of all("en")) assert.doesNotMatch(subject + text, /[{}]|\p{Script=Han}/u);
  for (const { subject, text, html } of all("zh")) {
    assert.match(subject, chinese);
    assert.match(text, chinese);
    assert.doesNotMatch(subject + text, /[{}]/);
    assert.match(html, /<html lang="zh-Hans">/);
  }
});

test("a passkey is named where it has a name", () => {
  assert.equal(passkeyOf("Laptop {name}", "en"), "The passkey “Laptop {name}”");
  assert.equal(passkeyOf("", "zh"), "一个通行密钥");
});

test("a mail has the same content as text and as escaped HTML", () => {
  const mail = code("sign_in", "en");
  assert.match(mail.text, /012345/);
  assert.match(mail.html, /<strong>012345<\/strong>/);
  assert.ok(!codeMessage({ code: "<b>", validMinutes: 1, purpose: "reauth" }, "en").html.includes("<b>"));
});
