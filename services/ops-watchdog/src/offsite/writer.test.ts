import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decideWriter, parseWriter, StandbyError, type WriterPlan } from "./writer.ts";

const text = (host_id: string) =>
  JSON.stringify({ host_id, name: "far.example", last_run_at: "2026-11-23T11:00:00.000Z" });

const cases: [fact: string, found: string | undefined, plan: WriterPlan][] = [
  ["a bucket without a writer is claimed", undefined, "claim"],
  ["our own claim is renewed", text("ours"), "renew"],
  ["another host's bucket is left alone", text("theirs"), "stand-by"],
  ["so is one whose writer cannot be read", "{", "stand-by"],
  ["or is empty", "", "stand-by"],
  ["or lacks its host", '{"name":"far.example"}', "stand-by"],
];

describe("the writer of a bucket", () => {
  for (const [fact, found, plan] of cases)
    test(fact, () => assert.equal(decideWriter(parseWriter(found), "ours"), plan));

  test("is named to whoever stands by", () => {
    assert.match(new StandbyError(parseWriter(text("theirs"))).message, /far\.example.*take-over/);
    assert.match(new StandbyError({ kind: "unknown" }).message, /cannot be read/);
  });
});
