import assert from "node:assert/strict";
import { test } from "node:test";
import { fitListing } from "./browse.ts";

const entry = (name: string) => ({ name, size: 1, is_dir: false, mod_time: "2026-01-01T00:00:00.000Z" });

test("a listing that fits in one message is returned in full", () => {
  const listing = ["a", "b"].map(entry);
  assert.deepEqual(fitListing({ listing, truncated: false }, 1_000), { entries: listing, truncated: false });
  assert.equal(fitListing({ listing, truncated: true }, 1_000).truncated, true);
});

test("a listing too large for one message is truncated and marked as truncated", () => {
  const listing = Array.from({ length: 5_000 }, (_, index) => entry(`${index}-${"\u4e16".repeat(80)}`));
  const { entries, truncated } = fitListing({ listing, truncated: false }, 500_000);
  assert.equal(truncated, true);
  assert.ok(entries.length > 1_000 && Buffer.byteLength(JSON.stringify(entries)) < 501_000);
  assert.deepEqual(entries, listing.slice(0, entries.length));
});
