import assert from "node:assert/strict";
import { test } from "node:test";
import { plainText, type Text } from "@svc/minecraft";
import { sayTo } from "@svc/proto/language";
import { bookPage, codeCard, codeLines } from "./texts.ts";

const code = { code: "ABCD2345", url: "https://console.example.com", minutes: 10 };

function clicksOf(text: Text): unknown[] {
  if (typeof text === "string") return [];
  return [...(text.click ? [text.click] : []), ...(text.extra ?? []).flatMap(clicksOf)];
}

for (const language of ["en", "zh"] as const) {
  test(`the code in ${language} can be read, copied and its page opened`, () => {
    const say = sayTo(() => language);
    const lines = codeLines(code, say);
    const plain = lines.map(plainText).join("\n");
    assert.match(plain, /https:\/\/console\.example\.com/);
    assert.match(plain, /ABCD2345/);
    assert.match(plain, /10/);
    const clicks = [{ open: code.url }, { copy: code.code }];
    const page = bookPage(codeCard(code, say));
    assert.match(plainText(page), /ABCD2345/);
    assert.deepEqual(clicksOf(page), clicks);
    assert.doesNotMatch(JSON.stringify(page), /yellow|aqua|gold/, "bright colours can't be read on paper");
    assert.deepEqual(lines.flatMap(clicksOf), clicks);
    assert.deepEqual(
      codeCard(code, say).buttons.map(({ click }) => click),
      clicks,
    );
  });
}
