import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { settingsOfFile, settingsText, withOptions } from "./settings.ts";

const before = {
  ...{ image: "a:1", memory: "2Gi", resources: { cpu: "1", cpuRequest: "500m" } },
  javaFlags: ["-XX:+UseZGC"],
};

describe("options of a template", () => {
  test("change what they name and leave the rest", () => {
    assert.deepEqual(withOptions(before, {}), before);
    assert.deepEqual(withOptions(before, { memory: "4Gi", cpu: "2", policy: "public", idle: 0 }), {
      ...before,
      ...{ memory: "4Gi", resources: { cpu: "2", cpuRequest: "500m" } },
      ...{ autostartPolicy: "public", idleStopSeconds: 0 },
    });
  });
  test("remove a setting by an empty text", () => {
    const { image: _, memory: _m, ...rest } = before;
    assert.deepEqual(withOptions(before, { image: "", memory: "" }), rest);
  });
});

test("a file says what is wrong in it", () => {
  assert.deepEqual(settingsOfFile("a.yaml", before), before);
  assert.deepEqual(settingsOfFile("a.yaml", null), {});
  assert.throws(() => settingsOfFile("a.yaml", { memry: "4Gi" }), /a\.yaml: .*memry/);
  assert.throws(() => settingsOfFile("a.yaml", { onlineMode: "yes" }), /a\.yaml: onlineMode: /);
});

test("settings are told in one line", () => {
  assert.equal(settingsText({}), "the defaults");
  assert.equal(
    settingsText({ ...before, storage: "8Gi", idleStopSeconds: 0 }),
    "a:1, 2Gi, disk 8Gi, never stops, javaFlags, resources",
  );
});
