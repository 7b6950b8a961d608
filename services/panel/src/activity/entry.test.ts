import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { en } from "../words/en/index.ts";
import { actionOf, detailsOf } from "./entry.ts";

describe("details of an entry", () => {
  const cases: [string, Record<string, unknown>, string[]][] = [
    ["a player", { action: "ban", player: "Notch" }, ["Notch"]],
    ["a move of a file", { to: "b.txt", from: "a.txt" }, ["a.txt", "b.txt"]],
    ["changed settings", { fields: ["memory", "image"] }, ["memory, image"]],
    ["what is unknown is left out", { secret: "x", size_bytes: 3 }, []],
    ["values of other kinds are left out", { player: null, fields: [], code: { a: 1 } }, []],
  ];
  for (const [name, payload, expected] of cases)
    test(name, () => assert.deepEqual(detailsOf({ payload }), expected));
});

test("an action of access, or of the status page, is told by what was done", () => {
  const actions: Readonly<Record<string, string>> = en.activity.access;
  for (const [action, done] of [
    ["access.ban", "pardon"],
    ["access.whitelist", "remove"],
    ["access.group", "add"],
    ["access.permission", "unset"],
  ] as const) {
    const key = actionOf({ action, payload: { action: done } });
    assert.equal(key, `${action}.${done}`);
    assert.ok(actions[key], key);
  }
  for (const [isPublic, done] of [
    [true, "on"],
    [false, "off"],
  ] as const) {
    const key = actionOf({ action: "server.status_page", payload: { public: isPublic } });
    assert.equal(key, `server.status_page.${done}`);
    assert.ok(actions[key], key);
  }
  assert.equal(actionOf({ action: "server.status_page", payload: {} }), "server.status_page");
  assert.equal(actionOf({ action: "schedule.run", payload: { action: "backup" } }), "schedule.run");
});
