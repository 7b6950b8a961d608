import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { aServer, now, secondsBefore } from "../testing/observed.ts";
import { isKeptAwake, refusalOfKeepAwake } from "./policy.ts";

const hour = 3_600_000;
const bounds = { keep_awake_longest: 48 * hour, keep_awake_servers: 2 };
const idle = { autoStopEnabled: true, emptySecondsBeforeStop: 600 };
const server = aServer({ idle });
type About = Parameters<typeof refusalOfKeepAwake>[2];

describe("whether a server may be kept awake", () => {
  const rows: [fact: string, about: Partial<About>, refusal: string | undefined][] = [
    ["until later", {}, undefined],
    ["until the latest that is allowed", { until: now + 48 * hour }, undefined],
    ["not for longer", { until: now + 48 * hour + 1 }, "bad_keep_awake"],
    ["not until now", { until: now }, "bad_keep_awake"],
    ["not until a time that is over", { until: now - 1 }, "bad_keep_awake"],
    ["not until no time at all", { until: Number.NaN }, "bad_keep_awake"],
    ["with as many others as leave one", { others: 1 }, undefined],
    ["not with as many others as are allowed", { others: 2 }, "keep_awake_quota_exceeded"],
    [
      "not where only operators may",
      { others: 0, bounds: { ...bounds, keep_awake_servers: 0 } },
      "keep_awake_quota_exceeded",
    ],
    [
      "by operators, however many there are",
      { others: undefined, bounds: { ...bounds, keep_awake_servers: 0 } },
      undefined,
    ],
    ["not while it is given up", { isRetiring: true }, "server_retiring"],
  ];
  for (const [fact, about, refusal] of rows)
    test(fact, () => {
      const given = { until: now + hour, isRetiring: false, others: 0, bounds, ...about };
      assert.equal(refusalOfKeepAwake(server, now, given)?.fault, refusal);
    });

  for (const [fact, one] of [
    ["whose idle stop is off", aServer({ idle: { ...idle, autoStopEnabled: false } })],
    ["without RCON, which is never known to be empty", aServer({ idle, rcon: { enabled: false } })],
    ["that was never given an idle stop", aServer()],
  ] as const)
    test(`not one ${fact}`, () => {
      const about = { until: now + hour, isRetiring: false, others: 0, bounds };
      assert.equal(refusalOfKeepAwake(one, now, about)?.fault, "no_idle_stop");
    });
});

test("a server counts as kept only until its time, and only where it has an idle stop", () => {
  const keptAwake = { since: secondsBefore(60), until: secondsBefore(-60) };
  const kept = aServer({ idle: { ...idle, keptAwake } });
  assert.equal(isKeptAwake(kept, now, bounds), true);
  assert.equal(isKeptAwake(kept, now + 60_000, bounds), false);
  assert.equal(isKeptAwake(server, now, bounds), false);
  assert.equal(
    isKeptAwake(aServer({ idle: { ...idle, autoStopEnabled: false, keptAwake } }), now, bounds),
    false,
  );
});
