import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Announcement, windowAt } from "./announcements.ts";
import { dueOf, type Verdict, verdictOf } from "./policy.ts";

const minute = 60_000;
const start = Date.parse("2026-03-02T20:00:00.000Z");
const iso = (minutes: number) => new Date(start + minutes * minute).toISOString();

function anAnnouncement(change: Partial<Announcement> = {}): Announcement {
  const range = { start: iso(0), end: iso(60) };
  return {
    ...{ id: "ann-1", text: { en: "New disks." }, severity: "info", maintenance: true, public: false },
    ...range,
    ...change,
  };
}

describe("what is due of an announcement", () => {
  const rows: [fact: string, maintenance: boolean, minutes: number, wanted: string | undefined][] = [
    ["nothing long before", true, -31, undefined],
    ["that maintenance comes", true, -30, "ann-1 soon"],
    ["that maintenance has begun", true, 0, "ann-1"],
    ["nothing at its end", true, 60, undefined],
    ["nothing before a message", false, -1, undefined],
    ["a message", false, 0, "ann-1"],
  ];
  for (const [fact, maintenance, minutes, wanted] of rows)
    test(fact, () =>
      assert.equal(dueOf(anAnnouncement({ maintenance }), start + minutes * minute)?.key, wanted),
    );
});

describe("who is told by the proxy", () => {
  const server = { kind: "server", name: "survival" } as const;
  const rows: [fact: string, about: Parameters<typeof verdictOf>[1], wanted: Verdict][] = [
    ["nobody who is nowhere yet", { place: { kind: "none" }, since: 0, isPublic: true }, "later"],
    [
      "who waits at the gate, of what is public",
      { place: { kind: "gate" }, since: 0, isPublic: true },
      "tell",
    ],
    [
      "not who waits at the gate, of the rest",
      { place: { kind: "gate" }, since: 0, isPublic: false },
      "later",
    ],
    ["who is in the lobby", { place: { kind: "lobby" }, since: 0, isPublic: false }, "tell"],
    ["not who was on the server", { place: server, since: start - 1, isPublic: false }, "told"],
    ["who came to the server since", { place: server, since: start, isPublic: false }, "tell"],
  ];
  for (const [fact, about, wanted] of rows)
    test(fact, () => assert.equal(verdictOf({ dueAt: start }, about), wanted));
});

test("of the windows that last now the one that ends last counts", () => {
  const all = [
    anAnnouncement({ id: "short" }),
    anAnnouncement({ id: "long", end: iso(90) }),
    anAnnouncement({ id: "planned", start: iso(30), end: iso(200) }),
    anAnnouncement({ id: "message", maintenance: false, end: iso(300) }),
  ];
  assert.equal(windowAt(all, start)?.id, "long");
  assert.equal(windowAt(all, start + 60 * minute)?.id, "planned");
  assert.equal(windowAt(all, start - 1), undefined);
});
