import assert from "node:assert/strict";
import { test } from "node:test";
import { plainText, type Text } from "@svc/minecraft";
import { bookPage, codeCard, codeLines, textsOf } from "./texts.ts";

const code = { code: "ABCD2345", url: "https://console.example.com", minutes: 10 };

function clicksOf(text: Text): unknown[] {
  if (typeof text === "string") return [];
  return [...(text.click ? [text.click] : []), ...(text.extra ?? []).flatMap(clicksOf)];
}

for (const language of ["en", "zh"] as const) {
  test(`the code in ${language} can be read, copied and its page opened`, () => {
    const lines = codeLines(code, language);
    const plain = lines.map(plainText).join("\n");
    assert.match(plain, /https:\/\/console\.example\.com/);
    assert.match(plain, /ABCD2345/);
    assert.match(plain, /10/);
    const clicks = [{ open: code.url }, { copy: code.code }];
    const page = bookPage(codeCard(code, language));
    assert.match(plainText(page), /ABCD2345/);
    assert.deepEqual(clicksOf(page), clicks);
    assert.doesNotMatch(JSON.stringify(page), /yellow|aqua|gold/, "bright colours can't be read on paper");
    assert.deepEqual(lines.flatMap(clicksOf), clicks);
    assert.deepEqual(
      codeCard(code, language).buttons.map(({ click }) => click),
      clicks,
    );
  });
}

test("every sentence is said in both languages, and in different words", () => {
  const english = textsOf("en");
  const chinese = textsOf("zh");
  assert.deepEqual(Object.keys(chinese.kicked), Object.keys(english.kicked));
  for (const [key, value] of Object.entries(chinese.kicked)) {
    assert.match(value, /\p{Script=Han}/u, key);
  }
  for (const [key, value] of Object.entries(chinese)) {
    if (typeof value === "string") assert.match(value, /\p{Script=Han}/u, key);
  }
});
