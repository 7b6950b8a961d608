// Tables: from findings to what is sent.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { composeMail, composeTest } from "./compose.ts";
import { decideDue, isAnythingDue, markAttempt, markSent } from "./due.ts";
import { type Finding, finding, type Observation } from "./finding.ts";
import { observe, settle } from "./observe.ts";
import { acknowledge, addSilence, covers, removeSilence } from "./silence.ts";
import { emptyState, type WatchdogState } from "./state.ts";

const minute = 60_000;
const hour = 60 * minute;
const start = Date.parse("2026-11-23T02:00:00Z");
const mail = "mail:ada@example.org";
const hook = "channel:ops";

type Change = { severity?: "critical" | "warning"; forMinutes?: number; event?: boolean };
const wrong = (key: string, change: Change = {}): Finding =>
  finding(
    { key, severity: "warning", hint: { en: "Restart it.", zh: "请重启。" }, ...change },
    { en: `${key} is wrong.`, zh: `${key} 有问题。` },
  );
const seen = (...findings: Finding[]): Observation => ({ findings, unknown: [] });
const blind = (...prefixes: string[]): Observation => ({
  findings: [],
  unknown: prefixes.map((prefix) => ({ prefix, reason: "no answer" })),
});

/** What each run at a minute sees; everything due is delivered to `ways` at once. */
type Step = { at: number; see: Observation; act?: (state: WatchdogState, now: number) => WatchdogState };
function play(steps: readonly Step[], ways: readonly string[] = [mail]): string[] {
  let state = emptyState();
  const log: string[] = [];
  for (const { at, see, act } of steps) {
    const now = start + at * minute;
    state = observe(act?.(state, now) ?? state, see, now);
    for (const way of ways) {
      const due = decideDue(state, way, now);
      if (!isAnythingDue(due)) continue;
      const words = Object.entries(due).flatMap(([kind, list]) => list.map(({ key }) => `${kind} ${key}`));
      log.push(`${at}: ${words.join(", ")}`);
      state = markSent(state, { way, due }, now);
    }
    state = settle(state, ways, now);
  }
  return log;
}

const a = wrong("a", { forMinutes: 5 });
const critical = wrong("a", { forMinutes: 5, severity: "critical" });
const happened = wrong("job/1", { event: true });
const silenceFor = (key: string, hours: number) => (state: WatchdogState, now: number) =>
  addSilence(state, { key, hours, reason: "works on it", by: "ada" }, now)?.state ?? state;
const acknowledged = (state: WatchdogState, now: number) =>
  acknowledge(state, { key: "a", by: "ada" }, now) ?? state;

describe("what is sent", () => {
  const table: [fact: string, steps: Step[], sent: string[]][] = [
    [
      "nothing before it has lasted",
      [
        { at: 0, see: seen(a) },
        { at: 4, see: seen(a) },
      ],
      [],
    ],
    [
      "one mail once it has",
      [
        { at: 0, see: seen(a) },
        { at: 5, see: seen(a) },
        { at: 7, see: seen(a) },
      ],
      ["5: firing a"],
    ],
    [
      "nothing about what came and went before it was due",
      [
        { at: 0, see: seen(a) },
        { at: 2, see: seen() },
        { at: 6, see: seen(a) },
      ],
      [],
    ],
    [
      "a warning that becomes critical at once",
      [
        { at: 0, see: seen(a) },
        { at: 5, see: seen(a) },
        { at: 6, see: seen(critical) },
        { at: 8, see: seen(critical) },
      ],
      ["5: firing a", "6: firing a"],
    ],
    [
      "nothing when what is critical becomes a warning",
      [
        { at: 0, see: seen(critical) },
        { at: 5, see: seen(critical) },
        { at: 6, see: seen(a) },
      ],
      ["5: firing a"],
    ],
    [
      "a reminder after a day, and again",
      [0, 5, 1444, 1445, 1447, 2885].map((at) => ({ at, see: seen(a) })),
      ["5: firing a", "1445: reminders a", "2885: reminders a"],
    ],
    [
      "the end after ten minutes without it",
      [
        { at: 0, see: seen(a) },
        { at: 5, see: seen(a) },
        ...[7, 16, 17, 19].map((at) => ({ at, see: seen() })),
      ],
      ["5: firing a", "17: resolved a"],
    ],
    [
      "nothing about a short recovery",
      [
        { at: 0, see: seen(a) },
        { at: 5, see: seen(a) },
        { at: 7, see: seen() },
        { at: 9, see: seen(a) },
        { at: 30, see: seen(a) },
      ],
      ["5: firing a"],
    ],
    [
      "what came back after its end, anew",
      [
        { at: 0, see: seen(a) },
        { at: 5, see: seen(a) },
        { at: 6, see: seen() },
        { at: 16, see: seen() },
        { at: 18, see: seen(a) },
        { at: 23, see: seen(a) },
      ],
      ["5: firing a", "16: resolved a", "23: firing a"],
    ],
    [
      "an event once, without a reminder or an end",
      [
        { at: 0, see: seen(happened) },
        { at: 1441, see: seen(happened) },
        { at: 1500, see: seen() },
        { at: 1600, see: seen() },
      ],
      ["0: firing job/1"],
    ],
    [
      "nothing about an alert whose probe cannot judge, not even its end",
      [
        { at: 0, see: seen(a) },
        { at: 5, see: seen(a) },
        { at: 6, see: blind("a") },
        { at: 60, see: blind("a") },
        { at: 62, see: seen(a) },
      ],
      ["5: firing a"],
    ],
    [
      "with the others that fire, in one mail, critical first",
      [
        { at: 0, see: seen(wrong("b"), wrong("c", { severity: "critical" })) },
        { at: 9, see: seen(wrong("b"), wrong("c", { severity: "critical" }), wrong("a")) },
      ],
      ["0: firing c, firing b", "9: firing a, others c, others b"],
    ],
    [
      "nothing while it is silenced, critical or not, and then what still fires",
      [
        { at: 0, see: seen(critical, wrong("b")), act: silenceFor("*", 1) },
        { at: 5, see: seen(critical, wrong("b")) },
        { at: 59, see: seen(critical, wrong("b")) },
        { at: 61, see: seen(critical, wrong("b")) },
      ],
      ["61: firing a, firing b"],
    ],
    [
      "a silenced warning once it becomes critical, until it is silenced again",
      [
        { at: 0, see: seen(a), act: silenceFor("*", 2) },
        { at: 5, see: seen(a) },
        { at: 6, see: seen(critical) },
        { at: 7, see: seen(critical), act: silenceFor("a", 1) },
        { at: 8, see: seen() },
        { at: 20, see: seen() },
        { at: 121, see: seen() },
      ],
      ["6: firing a", "121: resolved a"],
    ],
    [
      "nothing more about a silenced one that was critical for a while",
      [
        { at: 0, see: seen(a), act: silenceFor("a", 1) },
        { at: 6, see: seen(critical) },
        { at: 8, see: seen(a) },
        { at: 10, see: seen() },
        { at: 21, see: seen() },
        { at: 61, see: seen() },
      ],
      ["6: firing a", "61: resolved a"],
    ],
    [
      "the end of what was silenced after it was sent, once the silence ends",
      [
        { at: 0, see: seen(a) },
        { at: 5, see: seen(a) },
        { at: 6, see: seen(), act: silenceFor("a", 1) },
        { at: 20, see: seen() },
        { at: 67, see: seen() },
      ],
      ["5: firing a", "67: resolved a"],
    ],
    [
      "no reminder of what is acknowledged, but its end",
      [
        { at: 0, see: seen(a) },
        { at: 5, see: seen(a) },
        { at: 6, see: seen(a), act: acknowledged },
        { at: 1500, see: seen(a) },
        { at: 1501, see: seen() },
        { at: 1511, see: seen() },
      ],
      ["5: firing a", "1511: resolved a"],
    ],
    [
      "what is acknowledged when it becomes critical, and reminders of it from then on",
      [
        { at: 0, see: seen(a) },
        { at: 5, see: seen(a), act: acknowledged },
        { at: 6, see: seen(critical) },
        { at: 1446, see: seen(critical) },
      ],
      ["5: firing a", "6: firing a", "1446: reminders a"],
    ],
    [
      "at its time although the clock was set back",
      [
        { at: 0, see: seen(a) },
        { at: -600, see: seen(a) },
        { at: -595, see: seen(a) },
      ],
      ["-595: firing a"],
    ],
  ];
  for (const [fact, steps, sent] of table) test(fact, () => assert.deepEqual(play(steps), sent));

  test("each way is told by itself: one that is new hears of all that fires, and a channel of the end too", () => {
    const steps = [
      { at: 0, see: seen(a) },
      { at: 5, see: seen(a) },
      { at: 6, see: seen() },
      { at: 16, see: seen() },
    ];
    assert.deepEqual(play(steps, [mail, hook]), [
      "5: firing a",
      "5: firing a",
      "16: resolved a",
      "16: resolved a",
    ]);
  });
});

describe("what is remembered", () => {
  const fired = observe(observe(emptyState(), seen(a), start), seen(a), start + 5 * minute);
  const received = markSent(fired, { way: mail, due: decideDue(fired, mail, start) }, start + 5 * minute);

  test("what was not delivered stays due", () => {
    const later = observe(fired, seen(a), start + 9 * minute);
    assert.deepEqual(
      decideDue(later, mail, start + 9 * minute).firing.map(({ key }) => key),
      ["a"],
    );
  });

  test("an end that nobody can be told of is dropped after a day", () => {
    let state = observe(received, seen(), start + 10 * minute);
    state = settle(state, [mail], start + 12 * hour);
    assert.deepEqual(Object.keys(state.alerts), ["a"]);
    state = settle(state, [mail], start + 25 * hour);
    assert.deepEqual([Object.keys(state.alerts), state.resolved.map(({ key }) => key)], [[], ["a"]]);
    assert.deepEqual(
      state.history.map(({ what }) => what),
      ["fired", "resolved"],
    );
  });

  test("a recipient who is gone holds up no end", () => {
    const state = settle(
      observe(received, seen(), start + 10 * minute),
      ["mail:new@example.org"],
      start + 30 * minute,
    );
    assert.deepEqual(Object.keys(state.alerts), []);
  });

  test("resolved alerts are kept for a week, and 500 entries of history", () => {
    let state = settle(observe(received, seen(), start + 10 * minute), [], start + 30 * minute);
    assert.equal(state.resolved.length, 1);
    state = observe(state, seen(), start + 8 * 24 * hour);
    assert.equal(state.resolved.length, 0);
    for (let n = 0; n < 600; n += 1)
      state =
        addSilence(state, { key: `k${n % 3}`, hours: 1, reason: "r", by: "ada" }, start)?.state ?? state;
    assert.equal(state.history.length, 500);
    assert.equal(state.silences.filter(({ key }) => key === "k1").length, 1);
  });

  test("a failing way is tried at the next run, then after a pause that doubles up to an hour", () => {
    let state = emptyState();
    const pauses: number[] = [];
    for (let n = 0; n < 8; n += 1) {
      state = markAttempt(state, { way: mail, error: "550 no" }, start);
      pauses.push(((state.ways[mail]?.next_at ?? 0) - start) / minute);
    }
    assert.deepEqual(pauses, [0, 2, 4, 8, 16, 32, 60, 60]);
    assert.deepEqual(
      state.history.map(({ what, delivery }) => `${what} ${delivery}`),
      ["delivery_failed mail"],
    );
    state = markAttempt(state, { way: mail, error: undefined }, start);
    assert.deepEqual(state.ways[mail], { at: start, ok: true, failures: 0, next_at: start });
  });

  test("a silence is ended once, and nothing is acknowledged that is not wrong", () => {
    const added = addSilence(emptyState(), { key: "server/*", hours: 2, reason: "move", by: "ada" }, start);
    assert.ok(added);
    assert.equal(removeSilence(added.state, { id: "other", by: "ada" }, start), undefined);
    const ended = removeSilence(added.state, { id: added.silence.id, by: "ada" }, start);
    assert.deepEqual(ended?.silences, []);
    assert.equal(acknowledge(emptyState(), { key: "a", by: "ada" }, start), undefined);
    assert.deepEqual(
      ["server/x", "server", "a"].map((key) => covers("server/*", key)),
      [true, false, false],
    );
    assert.equal(covers("*", "anything"), true);
  });
});

describe("a mail", () => {
  const due = (steps: readonly Observation[]) => {
    const last = start + 5 * minute;
    const state = steps.reduce(
      (at, see, index) => observe(at, see, start + index * 5 * minute),
      emptyState(),
    );
    return decideDue(state, mail, last);
  };
  const dueMail = due([seen(critical, a), seen(critical, wrong("b"))]);

  test("says what is wrong, since when and what to do, critical first, with lines that end in CRLF", () => {
    const { subject, text } = composeMail(dueMail, { host: "svc.example.org", language: "en" });
    assert.equal(subject, "svc critical alert (svc.example.org): 2 firing, 0 resolved");
    assert.deepEqual(text.split("\r\n").slice(0, 6), [
      "New:",
      "",
      "[critical] a is wrong.",
      "  since 2026-11-23 02:00 UTC",
      "  → Restart it.",
      "",
    ]);
    assert.ok(text.includes("[warning] b is wrong."));
    assert.doesNotMatch(text, /(?<!\r)\n/);
  });

  test("is written in Chinese too", () => {
    const { subject, text } = composeMail(dueMail, { host: "h", language: "zh" });
    assert.equal(subject, "svc 严重警报（h）：2 项告警中，0 项已恢复");
    assert.match(text, /\[严重\] a 有问题。/);
    assert.match(composeTest({ host: "h", language: "zh" }).subject, /测试/);
  });

  test("of ends alone says so, and has the sections in order", () => {
    const none = { firing: [], reminders: [], resolved: [], others: [] };
    const [first] = dueMail.firing;
    assert.ok(first);
    const ends = composeMail({ ...none, resolved: [first] }, { host: "h", language: "en" });
    assert.equal(ends.subject, "svc resolved (h): 0 firing, 1 resolved");
    const all = composeMail(
      { firing: [first], reminders: [first], resolved: [first], others: [first] },
      { host: "h", language: "en" },
    );
    const titles = all.text.split("\r\n").filter((line) => line.endsWith(":"));
    assert.deepEqual(titles, ["New:", "Still firing (daily reminder):", "Resolved:", "Also still firing:"]);
  });

  test("has what others wrote as one line", () => {
    const { summary } = finding(
      { key: "k", severity: "warning", hint: { en: "h", zh: "h" } },
      { en: "failed: {why}", zh: "失败：{why}" },
      { why: "one\r\nSubject: two\u2028three" },
    );
    assert.equal(summary.en, "failed: one Subject: two three");
  });
});
