import assert from "node:assert/strict";
import { test } from "node:test";
import { flag, httpUrl, readVariables, text, wholeNumber } from "./variables.ts";

const settings = {
  URL: httpUrl().optional(),
  WORKERS: wholeNumber({ min: 1, max: 8, fallback: 2 }),
  ONLINE: flag(true),
  NAME: text("proxy"),
};
const read = (values: Record<string, string>) => readVariables(settings, (name) => values[name]);

test("what is unset or blank has its default", () => {
  assert.deepEqual(read({ NAME: " " }), { URL: undefined, WORKERS: 2, ONLINE: true, NAME: "proxy" });
});

test("blanks around a value, and slashes at the end of a URL, do not count", () => {
  assert.deepEqual(read({ URL: "http://a:1/ ", WORKERS: " 8", ONLINE: "false", NAME: " x " }), {
    URL: "http://a:1",
    WORKERS: 8,
    ONLINE: false,
    NAME: "x",
  });
});

const wrong: [string, string, RegExp][] = [
  ["WORKERS", "9", /^WORKERS must be a whole number from 1 to 8, not "9"$/],
  ["WORKERS", "1.5", /whole number/],
  ["WORKERS", "0x2", /whole number/],
  ["ONLINE", "yes", /^ONLINE must be true or false, not "yes"$/],
  ["URL", "ftp://a", /^URL must be a URL such as/],
];
for (const [name, value, message] of wrong) {
  test(`${name}=${value} is rejected with a sentence that names it`, () => {
    assert.throws(() => read({ [name]: value }), { name: "ConfigError", message });
  });
}

test("a required setting that is missing is named", () => {
  assert.throws(
    () => readVariables({ URL: httpUrl() }, () => ""),
    /^ConfigError: URL is missing; it must be/,
  );
});

test("with a reporter a bad value is reported and has its default", () => {
  const problems: string[] = [];
  const values = readVariables(
    settings,
    (name) => ({ WORKERS: "x" })[name],
    ({ name, message }) => problems.push(`${name} ${message}`),
  );
  assert.equal(values.WORKERS, 2);
  assert.deepEqual(problems, ['WORKERS must be a whole number from 1 to 8, not "x"']);
});
