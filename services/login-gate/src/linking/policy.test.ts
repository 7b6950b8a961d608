import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultRules as rules } from "../config.ts";
import { type Answer, arrive, next, type Step } from "./policy.ts";

const minted = (expiresAt = 600_000): Answer => ({ kind: "minted", code: "ABCD2345", expiresAt });

/** Plays answers in order, each as soon as its action is due, and records what the player saw. */
function play(answers: (Answer | Answer["kind"])[], start: Step = arrive(0)) {
  let step = start;
  let now = 0;
  const seen: string[] = [];
  const note = () => {
    now += step.afterMs;
    const { action } = step;
    const name = action.kind === "kick" ? `kick ${action.reason}` : action.kind;
    seen.push(`${now / 1_000} ${name}${step.alsoRelease ? " +release" : ""}`);
  };
  note();
  for (const answer of answers) {
    if (step.action.kind === "kick") break;
    const given = typeof answer === "string" ? ({ kind: answer } as Answer) : answer;
    step = next(step, given, { now, rules });
    note();
  }
  return { seen, step, now };
}

const stories: [string, (Answer | Answer["kind"])[], string[]][] = [
  ["a barred player is kicked before anything else is asked", ["barred"], ["0 look", "0 kick barred"]],
  ["a linked player is released at once", ["linked"], ["0 look", "0 release"]],
  [
    "a player without a link gets a code and is polled each second",
    ["unlinked", minted(), "unlinked", "unlinked"],
    ["0 look", "0 mint", "1 poll", "2 poll", "3 poll"],
  ],
  [
    "a redeemed code releases, once the blacklist was read again",
    ["unlinked", minted(), "linked", "linked"],
    ["0 look", "0 mint", "1 poll", "1 look", "1 release"],
  ],
  [
    "a player who is barred while holding a code is not released",
    ["unlinked", minted(), "linked", "barred"],
    ["0 look", "0 mint", "1 poll", "1 look", "1 kick barred"],
  ],
  [
    "an outage while a code is shown changes nothing",
    ["unlinked", minted(), "outage", "refused", "linked", "outage", "linked", "linked"],
    ["0 look", "0 mint", "1 poll", "2 poll", "3 poll", "3 look", "4 poll", "4 look", "4 release"],
  ],
  [
    "a code that ran out is minted anew",
    ["unlinked", minted(2_000), "unlinked", "unlinked", minted(9_000), "unlinked"],
    ["0 look", "0 mint", "1 poll", "2 poll", "3 mint", "4 poll", "5 poll"],
  ],
  ["a refusal at arrival kicks", ["refused"], ["0 look", "0 kick service_refuses"]],
  [
    "a token that was rotated just now is tried again, without a release on what the proxy remembers",
    ["unauthenticated", "unlinked", "unauthenticated", minted()],
    ["0 look", "1 look", "1 mint", "3 mint", "4 poll"],
  ],
  [
    "a token that stays refused kicks",
    ["unauthenticated", "unauthenticated", "unauthenticated"],
    ["0 look", "1 look", "3 look", "3 kick service_refuses"],
  ],
  [
    "a refused mint at arrival kicks",
    ["unlinked", "refused"],
    ["0 look", "0 mint", "0 kick service_refuses"],
  ],
  [
    "an outage at arrival is waited out, asking the proxy each time",
    ["outage", "outage", "outage", "outage", "outage", "linked"],
    [
      "0 look",
      "1 look +release",
      "3 look +release",
      "7 look +release",
      "15 look +release",
      "23 look +release",
      "23 release",
    ],
  ],
  [
    "an outage after the service said not linked never asks the proxy",
    ["unlinked", "outage", "outage", minted()],
    ["0 look", "0 mint", "1 mint", "3 mint", "4 poll"],
  ],
];
for (const [sentence, answers, expected] of stories) {
  test(sentence, () => assert.deepEqual(play(answers).seen, expected));
}

test("an outage of more than a minute at arrival kicks", () => {
  const { seen, now } = play(Array<Answer["kind"]>(30).fill("outage"));
  assert.equal(seen.at(-1), "55 kick service_away");
  assert.ok(now <= rules.outageWindowMs);
});

test("a code that is not redeemed until the login timeout ends in a kick", () => {
  const { seen } = play(["unlinked", minted(9_999_999), ...Array<Answer["kind"]>(700).fill("unlinked")]);
  assert.equal(seen.at(-1), "600 kick timeout");
  assert.equal(seen.filter((line) => line.endsWith("poll")).length, 600);
});

test("a new code does not lengthen the login timeout", () => {
  const answers = Array.from({ length: 700 }, (_, index): Answer => {
    return index % 2 === 0 ? minted(0) : { kind: "unlinked" };
  });
  assert.match(play(["unlinked", ...answers]).seen.at(-1) ?? "", /^60[01] kick timeout$/);
});

test("a release is asked again after 1, 2, 4, then every 8 s, for two minutes", () => {
  const { seen } = play(["linked", ...Array<Answer["kind"]>(40).fill("sent")]);
  assert.deepEqual(seen.slice(1, 7), [
    "0 release",
    "1 release",
    "3 release",
    "7 release",
    "15 release",
    "23 release",
  ]);
  assert.equal(seen.at(-1), "119 kick proxy_silent");
});

test("only a check that says linked releases the player", () => {
  const kinds: Answer["kind"][] = ["barred", "linked", "unlinked", "outage", "unauthenticated", "refused"];
  const walk = (step: Step, depth: number): void => {
    for (const kind of depth === 0 || step.action.kind === "kick" ? [] : kinds) {
      const after = next(step, { kind } as Answer, { now: 0, rules });
      if (after.action.kind === "release") {
        assert.equal(kind, "linked");
        assert.equal(step.action.kind, "look");
        continue;
      }
      assert.notEqual(after.state.phase, "releasing");
      if (after.alsoRelease) assert.equal(after.state.isKnownUnlinked, false);
      walk(after, depth - 1);
    }
  };
  walk(arrive(0), 5);
  walk({ ...play(["unlinked", minted()]).step }, 5);
});
