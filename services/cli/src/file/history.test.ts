import assert from "node:assert/strict";
import { test } from "node:test";
import { showHistory, undo } from "./history.ts";

test("what cannot be a version is refused with the command that lists them", async () => {
  const wanted = { name: "survival", path: "a.yml", id: "1" };
  const why = /1 is no version of a\.yml; list them with: `svc files history survival a\.yml`/;
  await assert.rejects(showHistory(wanted, { data: "/nowhere" }), why);
  await assert.rejects(undo(wanted, { data: "/nowhere" }), why);
});
