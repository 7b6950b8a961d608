import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CommandError, explainError, fields, planned, sizeText, table } from "./output.ts";

test("a table has left-aligned columns and no spaces at the end of a line", () => {
  const rows = [
    ["NAME", "PHASE", "OWNER"],
    ["survival", "Running", "-"],
    ["x", "Stopped", ""],
  ];
  const lines = ["NAME      PHASE    OWNER", "survival  Running  -", "x         Stopped"];
  assert.equal(table(rows), lines.join("\n"));
  assert.equal(table([]), "");
});

test("fields are one line each; what is nested is JSON", () => {
  const text = fields({ name: "survival", ready: true, players: { online: 2 } });
  assert.deepEqual(text.split("\n"), [
    "name               survival",
    "ready              true",
    'players            {"online":2}',
  ]);
});

test("sizes have one decimal above bytes", () => {
  const cases: [number, string][] = [
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1.0 KiB"],
    [1_610_612_736, "1.5 GiB"],
    [2 ** 53, "8192.0 TiB"],
  ];
  for (const [bytes, text] of cases) assert.equal(sizeText(bytes), text);
});

test("a plan says that nothing was done", () => {
  assert.deepEqual(planned({ name: "survival" }, "Plan: delete survival."), {
    json: { planned: { name: "survival" }, done: false },
    text: "Plan: delete survival.\nNothing was done; add --yes to do it.",
  });
});

describe("errors in words", () => {
  const system = (facts: object) => Object.assign(new Error("raw"), facts);
  const cases: [what: string, error: unknown, text: RegExp][] = [
    ["a missing file", system({ code: "ENOENT", path: "/srv/a" }), /^\/srv\/a not found$/],
    [
      "a refused connection",
      system({ code: "ECONNREFUSED", address: "127.0.0.1", port: 80 }),
      /127\.0\.0\.1:80/,
    ],
    ["a full disk", system({ code: "ENOSPC" }), /^the disk is full/],
    ["a cause below", new Error("outer", { cause: system({ code: "EISDIR", path: "/srv" }) }), /is a folder/],
    [
      "several causes",
      new AggregateError([system({ code: "EACCES", path: "/a" })]),
      /^no permission for \/a/,
    ],
    ["our own error", new CommandError("server x not found"), /^server x not found$/],
    [
      "our own error beside a system code",
      Object.assign(new CommandError("mine"), { code: "ENOENT" }),
      /^mine$/,
    ],
    ["anything else that was thrown", "text", /^unexpected: text$/],
  ];
  for (const [what, error, text] of cases) test(what, () => assert.match(explainError(error), text));
});
