import assert from "node:assert/strict";
import { test } from "node:test";
import { deviceName } from "./device-name.ts";

test("a device has a name by which a person knows it again", () => {
  const linux =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
  const cases = [
    [linux, "Chrome, Linux"],
    ["svc/0.1.0 (nas.home)", "svc, nas.home"],
    ["svc/0.1.0 (a b; <i>)", ""],
    ["", ""],
  ] as const;
  for (const [userAgent, expected] of cases) assert.equal(deviceName(userAgent), expected);
});
