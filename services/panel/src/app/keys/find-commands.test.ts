import assert from "node:assert/strict";
import { test } from "node:test";
import { type Command, findCommands } from "./find-commands.ts";

const page = (word: string): Command => ({ id: word, group: "pages", word, to: "/" });
const server = (word: string, also = ""): Command => ({ id: word, group: "servers", word, also, to: "/" });
const all = [page("Overview"), page("Servers"), server("Survival", "lobby-1 alice"), server("Old servers")];
const words = (query: string) => findCommands(all, query).map(({ word }) => word);

test("without a query everything is offered, in its order", () => {
  assert.deepEqual(words("  "), ["Overview", "Servers", "Survival", "Old servers"]);
});

test("what begins with the query comes first", () => {
  assert.deepEqual(words("serv"), ["Servers", "Old servers"]);
});

test("all words have to be there, in any order and in any of its names", () => {
  assert.deepEqual(words("alice SURV"), ["Survival"]);
  assert.deepEqual(words("alice overview"), []);
});

test("of ten thousand servers eight are offered, and pages stay in sight", () => {
  const many = [...Array.from({ length: 10_000 }, (_, n) => server(`server-${n}`)), page("Servers")];
  const found = findCommands(many, "server");
  assert.deepEqual([found.length, found.at(-1)?.word], [9, "Servers"]);
});
