import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { announcements as contracts } from "@svc/proto";
import { announcementCommands } from "./messages.ts";
import type { AnnouncementRow } from "./row.ts";
import { isShown, problemOf, stateOf, stepAt } from "./rules.ts";

const minute = 60_000;
const start = Date.parse("2026-03-02T20:00:00.000Z");
const lateMs = 2 * minute;

function aRow(change: Partial<AnnouncementRow> = {}): AnnouncementRow {
  return {
    ...{ id: "ann-1", text_en: "New disks.", text_zh: "更换硬盘。", severity: "warning" },
    ...{ starts_at: new Date(start), ends_at: new Date(start + 120 * minute), ended_at: null },
    ...{ maintenance: true, public: false, created_by: "owner", created_at: new Date(start) },
    ...{ changed_by: null, changed_at: null },
    ...change,
  };
}
const message = aRow({ maintenance: false });

describe("the state of an announcement", () => {
  const rows: [fact: string, minutes: number, change: Partial<AnnouncementRow>, wanted: contracts.State][] = [
    ["is planned before its start", -1, {}, "planned"],
    ["is current from its start on", 0, {}, "current"],
    ["is over at its end", 120, {}, "over"],
    ["is over once it was ended", 60, { ended_at: new Date(start) }, "over"],
    ["is over once it was withdrawn", -5, { ended_at: new Date(start - 10 * minute) }, "over"],
  ];
  for (const [fact, minutes, change, wanted] of rows)
    test(fact, () => assert.equal(stateOf(aRow(change), start + minutes * minute), wanted));
});

test("messages are shown while they are current, maintenance from a day before", () => {
  const shownAt = (row: AnnouncementRow, minutes: number) => isShown(row, start + minutes * minute);
  assert.deepEqual(
    [-1, 0, 119, 120].map((at) => shownAt(message, at)),
    [false, true, true, false],
  );
  assert.deepEqual(
    [-24 * 60 - 1, -24 * 60, 0, 120].map((at) => shownAt(aRow(), at)),
    [false, true, true, false],
  );
  assert.equal(shownAt(aRow({ ended_at: new Date(0) }), 10), false);
});

describe("what players are told", () => {
  const rows: [fact: string, row: AnnouncementRow, minutes: number, wanted: string | undefined][] = [
    ["nothing before the count-down", aRow(), -31, undefined],
    ["the first step half an hour before", aRow(), -30, "30: 30 left"],
    ["the minutes that are left, by who comes late", aRow(), -12.5, "30: 13 left"],
    ["only the last step that is due", aRow(), -4.5, "5: 5 left"],
    ["a minute before", aRow(), -0.5, "1: 1 left"],
    ["the start, with how long it lasts", aRow(), 0, "0: 120 left"],
    ["the start, a little late", aRow(), 1.9, "0: 119 left"],
    ["nothing long after the start", aRow(), 2, undefined],
    ["nothing before a message", message, -1, undefined],
    ["the start of a message", message, 1, "0: 119 left"],
    ["nothing of what was withdrawn", aRow({ ended_at: new Date(0) }), -1, undefined],
  ];
  for (const [fact, row, minutes, wanted] of rows) {
    test(fact, () => {
      const step = stepAt(row, start + minutes * minute, lateMs);
      assert.equal(step && `${step.minutes}: ${step.leftMinutes} left`, wanted);
    });
  }

  test("a start that is moved is due again", () => {
    const at = start - 20 * minute;
    const moved = aRow({ starts_at: new Date(start + 5 * minute) });
    assert.notDeepEqual(stepAt(aRow(), at, lateMs)?.dueAt, stepAt(moved, at, lateMs)?.dueAt);
  });

  test("in each language in which there is a text, as one command each", () => {
    const step = { minutes: 10, dueAt: new Date(start), leftMinutes: 10 };
    const texts = (row: AnnouncementRow, minutes = 10) =>
      announcementCommands(row, { ...step, minutes }).map((command) => {
        assert.match(command, /^tellraw @a \{/);
        return JSON.parse(command.slice("tellraw @a ".length)).text;
      });
    assert.deepEqual(texts(aRow()), [
      "Maintenance begins in 10 minutes: New disks. From then on no sleeping server can be woken.",
      "维护将在 10 分钟后开始：更换硬盘。 届时将无法唤醒休眠的服务器。",
    ]);
    assert.deepEqual(texts(aRow({ text_zh: null }), 0), [
      "Maintenance has begun, for about 10 minutes: New disks. Until then no sleeping server can be woken.",
    ]);
    assert.deepEqual(texts(message), ["Announcement: New disks.", "公告：更换硬盘。"]);
  });

  test("the longest text fits into a command", () => {
    const [en, zh] = ['"', "維"].map((letter) => letter.repeat(contracts.longestText));
    const row = aRow({ text_en: en ?? "", text_zh: zh ?? "" });
    for (const command of announcementCommands(row, { minutes: 0, dueAt: new Date(), leftMinutes: 9_999 }))
      assert.ok(Buffer.byteLength(command) <= 1_446, `${Buffer.byteLength(command)} bytes`);
  });
});

describe("a range", () => {
  const day = 24 * 60 * minute;
  const now = start;
  const rows: [fact: string, range: [number, number], maintenance: boolean, wanted?: RegExp][] = [
    ["from now on is fine", [0, 60], false],
    ["that began a moment ago is fine", [-4, 60], false],
    ["in the past is refused", [-6, 60], false, /in the past/],
    ["that ends before it begins is refused", [60, 60], false, /after the start/],
    ["that is over is refused", [-4, -1], false, /in the future/],
    ["a year ahead is fine", [(366 * day) / minute, (367 * day) / minute], true],
    ["further ahead is refused", [(366 * day) / minute + 1, (367 * day) / minute], true, /366 days/],
    ["of maintenance of a week is fine", [0, (7 * day) / minute], true],
    ["of longer maintenance is refused", [0, (7 * day) / minute + 1], true, /at most 7 days/],
    ["of a message of 90 days is fine", [0, (90 * day) / minute], false],
    ["of a longer message is refused", [0, (90 * day) / minute + 1], false, /at most 90 days/],
  ];
  for (const [fact, [from, to], maintenance, wanted] of rows) {
    test(fact, () => {
      const range = { start: now + from * minute, end: now + to * minute, maintenance };
      const problem = problemOf(range, { now });
      if (wanted) assert.match(problem ?? "", wanted);
      else assert.equal(problem, undefined);
    });
  }

  test("of one that has begun keeps its start", () => {
    const range = { start: now - 60 * minute, end: now + minute, maintenance: true };
    assert.equal(problemOf(range, { now, begun: range.start }), undefined);
    assert.match(problemOf(range, { now, begun: now - minute }) ?? "", /start stays/);
  });
});

test("a text is one line that neither colours nor hides", () => {
  const { AnnouncementText } = contracts;
  for (const en of ["", "  ", "a\nb", "§cRed", "a\u202eb", "a\u200bb", "x".repeat(contracts.longestText + 1)])
    assert.equal(AnnouncementText.safeParse({ en }).success, false, JSON.stringify(en));
  assert.deepEqual(AnnouncementText.parse({ en: "  Fine.  ", zh: "好" }), { en: "Fine.", zh: "好" });
});
