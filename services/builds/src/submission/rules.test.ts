import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isFault } from "@svc/proto";
import { readReason } from "../reason.ts";
import { checkCooldown, checkRoom, readDisplayName, type Usage } from "./rules.ts";

const faultOf = (work: () => unknown) => {
  try {
    work();
    return "none";
  } catch (error) {
    return isFault(error) ? error.fault : "no fault";
  }
};

describe("names of submissions", () => {
  const names: Record<string, string | undefined> = {
    "My pack (1.21.4) [v2] a/b+c_d-e:f": "My pack (1.21.4) [v2] a/b+c_d-e:f",
    "  spaces around  ": "spaces around",
    整合包: "整合包",
    "": undefined,
    "   ": undefined,
    "<script>": undefined,
    "a\nb": undefined,
    "a\u202eb": undefined,
    "a\0b": undefined,
    ["x".repeat(200)]: "x".repeat(200),
    ["x".repeat(201)]: undefined,
  };
  for (const [given, wanted] of Object.entries(names)) {
    test(`${JSON.stringify(given.slice(0, 40))} of ${given.length} characters is ${wanted ? "taken" : "refused"}`, () => {
      if (wanted === undefined)
        assert.equal(
          faultOf(() => readDisplayName(given)),
          "bad_request",
        );
      else assert.equal(readDisplayName(given), wanted);
    });
  }
  test("a reason has 1 to 1,000 characters", () => {
    assert.equal(readReason(` ${"x".repeat(1_000)} `).length, 1_000);
    for (const given of ["", "  ", "x".repeat(1_001), "a\0b"])
      assert.equal(
        faultOf(() => readReason(given)),
        "bad_request",
      );
  });
});

describe("room for so many bytes", () => {
  const limits = { accountBytes: 200, allBytes: 400, keepFree: 0.1 };
  const empty: Usage = { account: 0, all: 0, reserved: 0, volume: { size: 1_000, free: 1_000 } };
  const rows: [string, Partial<Usage>, number, string][] = [
    ["all of an account's limit", {}, 200, "none"],
    ["one byte more than an account's limit", {}, 201, "submission_quota_exceeded"],
    ["one byte beside a full account", { account: 200, all: 200 }, 1, "submission_quota_exceeded"],
    ["the last byte of the installation", { all: 399 }, 1, "none"],
    ["one byte more than the installation's limit", { all: 400 }, 1, "uploads_full"],
    ["down to the tenth that stays free", { volume: { size: 1_000, free: 200 } }, 100, "none"],
    ["one byte into the tenth that stays free", { volume: { size: 1_000, free: 200 } }, 101, "uploads_full"],
    [
      "what others bring does not count as free",
      { reserved: 50, volume: { size: 1_000, free: 200 } },
      51,
      "uploads_full",
    ],
    ["without a volume only limits count", { volume: undefined }, 200, "none"],
    [
      "an account's limit comes before the installation's",
      { account: 200, all: 400 },
      1,
      "submission_quota_exceeded",
    ],
  ];
  for (const [what, usage, bytes, wanted] of rows) {
    test(`${what}: ${wanted}`, () => {
      assert.equal(
        faultOf(() => checkRoom({ ...empty, ...usage }, limits, bytes)),
        wanted,
      );
    });
  }
});

test("a cooldown is refused with the seconds that are left, rounded up, and ends exactly", () => {
  const start = new Date("2026-01-01T00:00:00Z");
  const at = (ms: number) => new Date(start.getTime() + ms);
  const left = (ms: number) => {
    try {
      checkCooldown(start, 30_000, at(ms));
      return 0;
    } catch (error) {
      return isFault(error) ? error.retryAfterSeconds : undefined;
    }
  };
  assert.deepEqual([0, 1, 1_000, 29_000, 29_999, 30_000, 90_000].map(left), [30, 30, 29, 1, 1, 0, 0]);
  assert.equal(
    faultOf(() => checkCooldown(undefined, 30_000, start)),
    "none",
  );
});
