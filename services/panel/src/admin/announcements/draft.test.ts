import assert from "node:assert/strict";
import { test } from "node:test";
import { type Announcement, decideDraft, draftOf, emptyDraft } from "./draft.ts";

const now = Date.parse("2026-12-31T12:00:00.000Z");
const about = { zone: "Europe/Berlin", now };
const draft = { ...emptyDraft, en: " Hello ", end: "2026-12-31T14:00" };

test("a draft without a start begins now, and its end is of the zone", () => {
  assert.deepEqual(decideDraft(draft, about), {
    problems: [],
    body: {
      text: { en: "Hello" },
      severity: "info",
      end: "2026-12-31T13:00:00.000Z",
      maintenance: false,
      public: false,
    },
  });
});

test("a start is sent, but not that of one that has begun", () => {
  const planned = { ...draft, start: "2026-12-31T13:30" };
  assert.equal(decideDraft(planned, about).body?.start, "2026-12-31T12:30:00.000Z");
  assert.equal(decideDraft(planned, { ...about, begun: "2026-12-31T11:00:00.000Z" }).body?.start, undefined);
});

test("what is missing is named", () => {
  assert.deepEqual(decideDraft(emptyDraft, about).problems, ["text", "end-missing"]);
  assert.deepEqual(decideDraft({ ...draft, end: "2026-12-31T12:59" }, about).problems, ["end-not-after"]);
  assert.deepEqual(decideDraft({ ...draft, start: "2026-12-31T15:00" }, about).problems, ["end-not-after"]);
});

test("one that is there becomes a draft that says the same", () => {
  const one: Announcement = {
    ...{
      id: "ann-1",
      text: { en: "Hello", zh: "你好" },
      severity: "warning",
      maintenance: true,
      public: true,
    },
    ...{ start: "2026-12-31T18:00:00.000Z", end: "2026-12-31T20:00:00.000Z", state: "planned", ended: false },
    ...{ created_by: "owner", created_at: "2026-12-31T10:00:00.000Z", servers_told: 0 },
  };
  const { text, severity, start, end, maintenance } = one;
  assert.deepEqual(decideDraft(draftOf(one, about.zone), about).body, {
    ...{ text, severity, start, end, maintenance },
    public: true,
  });
});
