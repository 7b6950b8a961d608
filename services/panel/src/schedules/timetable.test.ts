import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isZone as isZoneOfService, nextRun } from "../../../lifecycle/src/schedule/next-run.ts";
import { clockOf, isZone, type Moment, offsetAt } from "../words/local-time.ts";
import { runsAfter, type Timetable } from "./timetable.ts";

const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
const daily = (time: string, timezone: string, weekdays = 127): Timetable => ({
  ...{ every_minutes: 0, minute_of_day: minutesOf(time), weekdays, timezone },
});
const every = (every_minutes: number, timezone: string, weekdays = 127): Timetable => ({
  ...{ every_minutes, minute_of_day: 0, weekdays, timezone },
});
const [sunday, monday, saturday] = [1, 2, 64];

/** Zones with an hour, half an hour and no summer time, on both halves of the earth, with odd offsets and days. */
const zones = [
  ...["UTC", "Europe/Berlin", "Europe/London", "Europe/Dublin", "America/New_York", "America/St_Johns"],
  ...["America/Santiago", "America/Havana", "America/Nuuk", "Africa/Casablanca", "Africa/Cairo"],
  ...["Asia/Shanghai", "Asia/Kolkata", "Asia/Kathmandu", "Asia/Beirut", "Australia/Lord_Howe"],
  ...["Australia/Adelaide", "Pacific/Auckland", "Pacific/Chatham", "Pacific/Apia", "Antarctica/Troll"],
  ...["EST5EDT", "Atlantis/Capital"],
];

/** Moments before both clock changes of each zone in a year, and one in between. */
function moments(zone: string): number[] {
  const start = Date.UTC(2026, 0, 1, 11, 7);
  const days = Array.from({ length: 366 }, (_, day) => start + day * 86_400_000);
  if (!isZone(zone)) return [start];
  const changes = days.filter((at) => offsetAt(zone, at) !== offsetAt(zone, at + 86_400_000));
  return [start, ...changes.map((at) => at - 86_400_000)];
}

describe("the next five runs are those of the service", () => {
  for (const zone of zones) {
    test(zone, () => {
      const timetables = [
        ...[15, 30, 60, 120, 180, 480, 720].map((minutes) => every(minutes, zone)),
        ...["00:00", "00:30", "01:30", "02:00", "02:15", "02:30", "03:00", "23:59"].map((time) =>
          daily(time, zone),
        ),
        ...[daily("02:30", zone, sunday), daily("00:00", zone, sunday), every(60, zone, saturday)],
        daily("05:00", zone, monday),
      ];
      const starts = moments(zone);
      for (const timetable of timetables) {
        for (const moment of starts) {
          // A first one a day before the change, and one shortly before it.
          for (const after of [moment, moment + 12 * 3_600_000]) {
            const runs = runsAfter(timetable, after, 5).map(({ at }) => at);
            assert.deepEqual(runs, runsOfService(timetable, after), JSON.stringify({ timetable, after }));
          }
        }
      }
    });
  }

  function runsOfService({ every_minutes, minute_of_day, weekdays, timezone }: Timetable, after: number) {
    const runs: number[] = [];
    const timetable = { everyMinutes: every_minutes, minuteOfDay: minute_of_day, weekdays, timezone };
    while (runs.length < 5) runs.push(nextRun(timetable, runs.at(-1) ?? after));
    return runs;
  }
});

describe("a clock change is marked", () => {
  const say = ({ at, change }: Moment) => {
    const time = new Date(at).toISOString().slice(0, 16);
    if (!change) return time;
    if (change.kind === "doubled") return `${time} doubled ${clockOf(change.wanted)}`;
    return `${time} skipped ${clockOf(change.wanted)} runs ${clockOf(change.shown)}`;
  };
  for (const [title, timetable, after, expected] of [
    [
      "an hour that is skipped",
      daily("02:30", "Europe/Berlin"),
      "2026-03-28T12:00Z",
      ["2026-03-29T00:30 skipped 02:30 runs 01:30", "2026-03-30T00:30"],
    ],
    [
      "an hour that comes twice",
      daily("02:30", "Europe/Berlin"),
      "2026-10-24T12:00Z",
      ["2026-10-25T00:30 doubled 02:30", "2026-10-26T01:30"],
    ],
    [
      "half an hour that is skipped",
      daily("02:15", "Australia/Lord_Howe"),
      "2026-10-03T12:00Z",
      ["2026-10-03T15:15 skipped 02:15 runs 01:45", "2026-10-04T15:15"],
    ],
    [
      "a midnight that is skipped runs the evening before",
      daily("00:00", "America/Santiago", sunday),
      "2026-09-05T12:00Z",
      ["2026-09-06T03:00 skipped 00:00 runs 23:00", "2026-09-13T03:00"],
    ],
    [
      "repeats that fall on one moment are one run",
      every(60, "Europe/Berlin"),
      "2026-03-28T23:30Z",
      ["2026-03-29T00:00 skipped 02:00 runs 01:00", "2026-03-29T01:00"],
    ],
    [
      "a time outside of the change is not",
      daily("05:00", "Europe/Berlin"),
      "2026-03-28T12:00Z",
      ["2026-03-29T03:00"],
    ],
  ] as const) {
    test(title, () => {
      const runs = runsAfter(timetable, Date.parse(after), expected.length);
      assert.deepEqual(runs.map(say), expected);
    });
  }
});

test("a week without a day has no run", () => {
  assert.deepEqual(runsAfter(daily("05:00", "UTC", 0), 0, 5), []);
});

test("names are zones where the service takes them", () => {
  for (const name of [
    ...zones,
    "",
    "Local",
    "local",
    "+01:00",
    "Europe/Berlin ",
    "1",
    "utc",
    "europe/berlin",
  ])
    assert.equal(isZone(name), isZoneOfService(name), name);
});
