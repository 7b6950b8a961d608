import assert from "node:assert/strict";
import { test } from "node:test";
import { unjudgedTables } from "./commands.ts";

const failed = { prefix: "server/", reason: "the cluster is away" };
const unused = { prefix: "mail-relay", reason: "no mail relay is configured", configured: false as const };

test("checks that failed stand apart from those that are not set up", () => {
  const [first = "", second = "", ...more] = unjudgedTables([unused, failed]);
  assert.match(first, /^CANNOT JUDGE\s+WHY\nserver\/\s+the cluster is away$/);
  assert.match(second, /^NOT SET UP\s+WHY\nmail-relay\s+no mail relay is configured$/);
  assert.deepEqual(more, []);
  assert.deepEqual(unjudgedTables([]), []);
});
