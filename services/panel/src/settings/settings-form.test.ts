import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  changesOf,
  formOf,
  type IdleBounds,
  minutesOf,
  type SettingsForm,
  secondsOf,
} from "./settings-form.ts";

const settings = { displayName: "Survival", autostartPolicy: "public", idleStopSeconds: 600 } as const;
const bounds: IdleBounds = { minSeconds: 60, maxSeconds: 3_600, mayBeOff: false };

describe("what is sent", () => {
  const cases: [string, Partial<SettingsForm>, ReturnType<typeof changesOf>][] = [
    ["nothing, when nothing changed", {}, {}],
    ["a new name, without spaces around it", { displayName: " Sky " }, { displayName: "Sky" }],
    ["an emptied name", { displayName: "" }, { displayName: "" }],
    ["a policy alone", { policy: "ownerOnly" }, { autostartPolicy: "ownerOnly" }],
    ["minutes as seconds", { idleMinutes: "1.5" }, { idleStopSeconds: 90 }],
    ["the lowest idle stop", { idleMinutes: "1" }, { idleStopSeconds: 60 }],
    ["the highest idle stop", { idleMinutes: "60" }, { idleStopSeconds: 3_600 }],
    ["no idle stop below the bounds", { idleMinutes: "0.5" }, "bad_idle_stop"],
    ["no idle stop above the bounds", { idleMinutes: "61" }, "bad_idle_stop"],
    ["no idle stop of 0 minutes", { idleMinutes: "0" }, "bad_idle_stop"],
    ["no words as idle stop", { idleMinutes: "ten" }, "bad_idle_stop"],
    ["off is refused where it may not be", { stopsWhenEmpty: false }, "bad_idle_stop"],
  ];
  for (const [name, change, expected] of cases)
    test(name, () =>
      assert.deepEqual(changesOf(settings, { ...formOf(settings), ...change }, bounds), expected),
    );

  test("off as 0, where it may be", () => {
    const form = { ...formOf(settings), stopsWhenEmpty: false };
    assert.deepEqual(changesOf(settings, form, { ...bounds, mayBeOff: true }), { idleStopSeconds: 0 });
  });

  test("what staff set stays, also outside of the owner's bounds", () => {
    for (const idleStopSeconds of [0, 86_400]) {
      const set = { ...settings, idleStopSeconds };
      assert.deepEqual(changesOf(set, { ...formOf(set), displayName: "Sky" }, bounds), {
        displayName: "Sky",
      });
    }
  });
});

test("minutes and seconds agree", () => {
  for (const seconds of [60, 90, 600, 86_400]) assert.equal(secondsOf(minutesOf(seconds)), seconds);
  assert.equal(secondsOf("1,5"), 90);
  for (const typed of ["", "-1", "1e3", "1.555", "1234567"]) assert.equal(secondsOf(typed), undefined, typed);
});
