import assert from "node:assert/strict";
import { test } from "node:test";
import type { CodePurpose } from "../../database.ts";
import { codeMessage, codesLockedMessage, emailChangedMessage, emailRemovedMessage } from "./account.ts";

const purposes: CodePurpose[] = ["sign_in", "op_login", "onboard_email", "reauth", "migrate_confirm"];
const code = (purpose: CodePurpose, language: "en" | "zh") =>
  codeMessage({ code: "012345", validMinutes: 10, purpose }, language);

for (const language of ["en", "zh"] as const) {
  test(`a mail with a code says what it is for, in ${language}`, () => {
    const letters = purposes.map((purpose) => code(purpose, language));
    assert.equal(new Set(letters.map(({ text }) => text)).size, purposes.length);
    for (const { subject, text, html } of letters) {
      assert.match(subject, /^012345 /);
      assert.match(text, /012345(.|\n)*10/);
      assert.match(html, /<strong>012345<\/strong>/);
    }
  });
}

test("a mail in one language has no word of the other", () => {
  const chinese = /\p{Script=Han}/u;
  const all = (language: "en" | "zh") => [
    code("sign_in", language),
    emailChangedMessage({ newAddress: "n***@e***.org" }, language),
    emailRemovedMessage(language),
    codesLockedMessage({ until: "2026-01-02T03:04:05.000Z" }, language),
  ];
  for (const { subject, text } of all("en")) assert.doesNotMatch(subject + text, chinese);
  for (const { subject, text, html } of all("zh")) {
    assert.match(subject, chinese);
    assert.match(text, chinese);
    assert.match(html, /<html lang="zh-Hans">/);
  }
});

test("a moment is given to the minute, with its time zone", () => {
  const { text } = codesLockedMessage({ until: "2026-01-02T03:04:05.000Z" });
  assert.match(text, /until 2026-01-02 03:04 UTC/);
});
