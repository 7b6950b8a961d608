import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isWhole, sampleOf } from "@svc/config/testing";
import { isZone, nextRun, type Timetable } from "./next-run.ts";

const minute = 60_000;
const daily = (time: string, timezone: string, weekdays = 127): Timetable => {
  const [hours, minutes] = time.split(":").map(Number);
  return { everyMinutes: 0, minuteOfDay: (hours ?? 0) * 60 + (minutes ?? 0), weekdays, timezone };
};
const every = (everyMinutes: number, timezone: string, weekdays = 127): Timetable => ({
  everyMinutes,
  minuteOfDay: 0,
  weekdays,
  timezone,
});
const [sunday, monday, saturday] = [1, 2, 64];

const facts: [fact: string, timetable: Timetable, after: string, next: string][] = [
  [
    "a daily run is today when its time is to come",
    daily("05:00", "UTC"),
    "2026-03-01T04:59:59.999Z",
    "2026-03-01T05:00:00Z",
  ],
  ["a run is strictly after now", daily("05:00", "UTC"), "2026-03-01T05:00:00Z", "2026-03-02T05:00:00Z"],
  [
    "a time is the wall clock of its zone",
    daily("05:00", "Asia/Shanghai"),
    "2026-03-01T00:00:00Z",
    "2026-03-01T21:00:00Z",
  ],
  [
    "the weekday is that of the zone",
    daily("01:00", "Asia/Shanghai", monday),
    "2026-03-01T00:00:00Z",
    "2026-03-01T17:00:00Z",
  ],
  [
    "a run once a week comes again after a week",
    daily("05:00", "UTC", sunday),
    "2026-03-01T05:00:00Z",
    "2026-03-08T05:00:00Z",
  ],
  [
    "repeats are multiples since local midnight",
    every(480, "Asia/Kolkata"),
    "2026-03-01T00:00:00Z",
    "2026-03-01T02:30:00Z",
  ],
  [
    "repeats begin again at midnight",
    every(720, "UTC", sunday),
    "2026-03-01T12:00:00Z",
    "2026-03-08T00:00:00Z",
  ],
  [
    "a skipped time runs an hour earlier, west of Greenwich",
    daily("02:30", "America/New_York"),
    "2026-03-08T00:00:00Z",
    "2026-03-08T06:30:00Z",
  ],
  [
    "a skipped time runs an hour earlier, east of Greenwich",
    daily("02:30", "Europe/Berlin"),
    "2026-03-29T00:00:00Z",
    "2026-03-29T00:30:00Z",
  ],
  [
    "after a skipped time the next day is as usual",
    daily("02:30", "Europe/Berlin"),
    "2026-03-29T00:30:00Z",
    "2026-03-30T00:30:00Z",
  ],
  [
    "half an hour that is skipped is half an hour earlier",
    daily("02:15", "Australia/Lord_Howe"),
    "2026-10-03T12:00:00Z",
    "2026-10-03T15:15:00Z",
  ],
  [
    "a skipped midnight runs the evening before",
    daily("00:00", "America/Santiago", sunday),
    "2026-09-05T12:00:00Z",
    "2026-09-06T03:00:00Z",
  ],
  [
    "a repeated time runs the first time",
    daily("02:30", "Europe/Berlin"),
    "2026-10-25T00:00:00Z",
    "2026-10-25T00:30:00Z",
  ],
  [
    "a repeated time does not run again",
    daily("02:30", "Europe/Berlin"),
    "2026-10-25T00:30:00Z",
    "2026-10-26T01:30:00Z",
  ],
  [
    "repeats pause while an hour comes again",
    every(30, "Europe/Berlin"),
    "2026-10-25T00:30:00Z",
    "2026-10-25T02:00:00Z",
  ],
  [
    "a zone that vanished is UTC",
    daily("05:00", "Atlantis/Capital"),
    "2026-03-01T00:00:00Z",
    "2026-03-01T05:00:00Z",
  ],
];

describe("the next run", () => {
  for (const [fact, timetable, after, next] of facts) {
    test(fact, () => {
      const at = nextRun(timetable, Date.parse(after));
      assert.equal(new Date(at).toISOString(), new Date(next).toISOString());
    });
  }
});

test("names of the time zone database are zones, and nothing else is", () => {
  for (const name of ["UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/Argentina/Ushuaia"]) {
    assert.equal(isZone(name), true, name);
  }
  for (const name of ["", "Local", "local", "+01:00", "Atlantis/Capital", "Europe/Berlin ", "1"]) {
    assert.equal(isZone(name), false, name);
  }
});

// An independent calculation: Intl gives the wall clock of every minute of two years, in a sample of one.
const from = Date.UTC(2026, 0, 1);
const to = Date.UTC(isWhole ? 2028 : 2027, 0, 1);
type Reading = { at: number; local: number };

function walk(zone: string): Reading[] {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  });
  const readings: Reading[] = [];
  // Clock changes happen at quarters of an hour, so minutes in between need no query.
  for (let quarter = from - 2 * 86_400_000; quarter < to + 9 * 86_400_000; quarter += 15 * minute) {
    const parts = Object.fromEntries(
      format.formatToParts(quarter).map(({ type, value }) => [type, Number(value)]),
    );
    const { year = 0, month = 0, day = 0, hour = 0, minute: minutes = 0 } = parts as Record<string, number>;
    const local = Date.UTC(year, month - 1, day, hour, minutes);
    for (let extra = 0; extra < 15; extra++) {
      readings.push({ at: quarter + extra * minute, local: local + extra * minute });
    }
  }
  return readings;
}

const iso = (at: number | undefined) => (at === undefined ? "never" : new Date(at).toISOString());

/** When a timetable runs, by the wall clock and never by an offset. */
function runsOf(readings: readonly Reading[], timetable: Timetable): number[] {
  const { everyMinutes, minuteOfDay, weekdays } = timetable;
  const isWanted = (minutes: number) =>
    everyMinutes > 0 ? minutes % everyMinutes === 0 : minutes === minuteOfDay;
  const isOn = (day: number) => (weekdays & (1 << ((day + 4) % 7))) !== 0;
  const runs = new Set<number>();
  let shown = Number.NEGATIVE_INFINITY;
  for (const { at, local } of readings) {
    const wasShown = local <= shown;
    // Runs skipped before this minute run earlier by the length of the gap.
    if (shown > 0 && local - shown > minute) {
      const gap = local - shown - minute;
      for (let missing = shown + minute; missing < local; missing += minute) {
        const isDue = isOn(Math.floor(missing / 86_400_000)) && isWanted((missing / minute) % 1_440);
        if (isDue) runs.add(at - gap + (missing - shown - minute));
      }
    }
    if (!wasShown && isOn(Math.floor(local / 86_400_000)) && isWanted((local / minute) % 1_440)) runs.add(at);
    shown = Math.max(shown, local);
  }
  return [...runs].sort((a, b) => a - b);
}

// A zone with half an hour of summer time, one that changes its clock for Ramadan, a plain one, UTC, and a
// southern one whose midnight is skipped.
const walked = ["Australia/Lord_Howe", "Africa/Casablanca", "Europe/Berlin", "UTC", "America/Santiago"];
for (const zone of sampleOf(walked, 2)) {
  test(`over years in ${zone} every next run is the one that the wall clock shows`, () => {
    const readings = walk(zone);
    const timetables = [
      every(isWhole ? 15 : 240, zone),
      every(60, zone, 127 - monday),
      every(480, zone),
      daily("00:00", zone, sunday),
      daily("02:15", zone),
      daily("02:30", zone, saturday + sunday),
      daily("23:59", zone),
    ];
    for (const timetable of timetables) {
      const runs = runsOf(readings, timetable);
      let index = runs.findIndex((at) => at > from);
      let at = from;
      while (at < to) {
        const next = nextRun(timetable, at);
        const isRight = next === runs[index] && next === nextRun(timetable, next - 1);
        if (!isRight)
          assert.fail(`${JSON.stringify(timetable)} after ${iso(at)}: ${iso(next)}, not ${iso(runs[index])}`);
        at = next;
        index += 1;
      }
    }
  });
}

test("a zone that changed its rules follows the rules of the day", () => {
  // Summer time of Brazil ended for good in 2019.
  const at = (after: string) =>
    new Date(nextRun(daily("05:00", "America/Sao_Paulo"), Date.parse(after))).toISOString();
  assert.equal(at("2018-12-01T00:00:00Z"), "2018-12-01T07:00:00.000Z");
  assert.equal(at("2026-12-01T00:00:00Z"), "2026-12-01T08:00:00.000Z");
});
