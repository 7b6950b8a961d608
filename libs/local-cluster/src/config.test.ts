import assert from "node:assert/strict";
import { test } from "node:test";
import { parseConfig } from "./config.ts";

const least = ["--data", "/data", "--port", "0", "--images", "/images.json"];

test("every option has a default except --data, --port and --images", () => {
  assert.deepEqual(parseConfig(least), {
    dataDir: "/data",
    port: 0,
    host: "127.0.0.1",
    images: "/images.json",
    nodes: 2,
    serviceAccounts: [],
    crashBackoffMs: 10_000,
    jobBackoffMs: 10_000,
  });
});

test("service accounts are given as namespace/name, as often as needed", () => {
  const { serviceAccounts } = parseConfig([...least, "--service-account", "a/b", "--service-account", "c/d"]);
  assert.deepEqual(serviceAccounts, [
    { namespace: "a", name: "b" },
    { namespace: "c", name: "d" },
  ]);
});

const wrong: [fact: string, args: string[], message: RegExp][] = [
  ["a missing folder", ["--port", "0", "--images", "x"], /^--data is missing; usage:/],
  [
    "a port that is not a number",
    [...least, "--port", "x"],
    /^--port must be a whole number from 0 to 65535, not "x"/,
  ],
  ["too many nodes", [...least, "--nodes", "61"], /^--nodes must be a whole number from 1 to 60, not "61"/],
  [
    "a malformed account",
    [...least, "--service-account", "a"],
    /^--service-account must be NAMESPACE\/NAME, not "a"/,
  ],
];
for (const [fact, args, message] of wrong) {
  test(`${fact} is rejected with the option to correct`, () =>
    assert.throws(
      () => parseConfig(args),
      (error: Error) => message.test(error.message),
    ));
}
