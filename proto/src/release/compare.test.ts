import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { breaks, faultsOf } from "./compare.ts";
import { type Json, type Release, snapshot } from "./snapshot.ts";
import { check } from "./write.ts";

test("this build and the last release understand each other, but for what is accepted", () => {
  const { refused, stale } = check();
  assert.deepEqual(refused, [], "see CONTRIBUTING.md#compatibility");
  assert.deepEqual(stale, [], "proto/src/release/accepted.ts lists what does not happen");
});

const json = (schema: z.ZodType) => z.toJSONSchema(schema) as Json;
const base = {
  name: z.string().max(20),
  phase: z.enum(["Stopped", "Running"]),
  since: z.string().nullable(),
};
const written = z.strictObject(base);

const cases: [string, z.ZodType, boolean, boolean][] = [
  // A change of the reader; is it taken where members are refused, and where newer ones are left out?
  ["nothing", written, true, true],
  ["one more optional member", written.extend({ more: z.string().optional() }), true, true],
  ["one more required member", written.extend({ more: z.string() }), false, false],
  ["a member that is gone", written.omit({ since: true }), false, true],
  ["a member that is no longer null", written.extend({ since: z.string() }), false, false],
  ["a shorter text", written.extend({ name: z.string().max(10) }), false, false],
  ["a longer text", written.extend({ name: z.string().max(30) }), true, true],
  ["another type", written.extend({ name: z.number() }), false, false],
  ["one value less", written.extend({ phase: z.enum(["Stopped"]) }), false, false],
  ["one value more", written.extend({ phase: z.enum(["Stopped", "Running", "Lost"]) }), true, true],
  ["any text instead of some", written.extend({ phase: z.string() }), true, true],
];
for (const [what, reader, strictly, tolerantly] of cases) {
  test(`a reader with ${what} ${strictly ? "takes" : "refuses"} what was written before`, () => {
    const sides = { reader: json(reader), writer: json(written) };
    assert.equal(faultsOf(sides, { at: "x", ignores: false }).length === 0, strictly);
    assert.equal(faultsOf(sides, { at: "x", ignores: true }).length === 0, tolerantly);
  });
}

test("what is gone, moved or no longer repeatable is told in words", () => {
  const now = snapshot("now");
  const subject = "lifecycle.server.create";
  const old: Release = structuredClone(now);
  const contract = old.contracts[subject];
  assert.ok(contract);
  assert.deepEqual(breaks(old, now), []);
  old.contracts["lifecycle.server.gone"] = contract;
  old.contracts[subject] = {
    ...contract,
    http: "POST /old on external",
    callers: [...contract.callers, "proxy"],
  };
  old.messages["event lifecycle.server.gone"] = {};
  assert.deepEqual(breaks(old, now), [
    `${subject}: was POST /old on external, is ${contract.http}`,
    `${subject}: proxy may not call it any more`,
    "lifecycle.server.gone: is gone, and callers of the release ask it",
    "event lifecycle.server.gone: is gone, and readers of the release wait for it",
  ]);
});
