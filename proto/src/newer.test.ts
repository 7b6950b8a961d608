import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { parseNewer } from "./newer.ts";

const Row = z.strictObject({ id: z.number(), owner: z.strictObject({ name: z.string() }).nullable() });
const Page = z.strictObject({ rows: z.array(Row) });

test("members that only a newer build knows are left out, wherever they are", () => {
  const row = { id: 1, owner: { name: "a", born: 1 }, more: [] };
  const page = { rows: [row, { id: 2, owner: null }], next: "x" };
  assert.deepEqual(parseNewer(Page, page), {
    rows: [
      { id: 1, owner: { name: "a" } },
      { id: 2, owner: null },
    ],
  });
  assert.equal(row.owner.born, 1, "what was given stays as it is");
});

test("what is missing or of another type is an error, with newer members beside it as well", () => {
  assert.throws(() => parseNewer(Page, { rows: [{ id: "1", owner: null }], next: "x" }), z.ZodError);
  assert.throws(() => parseNewer(Page, {}), z.ZodError);
});
