import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyHistory, remember, step } from "./history.ts";

test("arrows go through earlier commands and back to what was typed", () => {
  let history = ["list", "say hi", "list"].reduce(remember, emptyHistory);
  assert.deepEqual(history.entries, ["say hi", "list"]);
  const texts: string[] = [];
  let typed = "wea";
  for (const by of [-1, -1, -1, 1, 1, 1] as const) {
    const stepped = step(history, by, typed);
    history = stepped.history;
    typed = stepped.text;
    texts.push(typed);
  }
  assert.deepEqual(texts, ["list", "say hi", "say hi", "list", "wea", "wea"]);
});

test("fifty commands are kept", () => {
  const history = Array.from({ length: 60 }, (_, at) => `c${at}`).reduce(remember, emptyHistory);
  assert.equal(history.entries.length, 50);
  assert.equal(history.entries.at(-1), "c59");
});
