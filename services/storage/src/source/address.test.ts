import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkAddress, isSource, shownAddress } from "./address.ts";

const sources = [
  "repo.example.net",
  "repo.example.net:8443",
  "http://files.internal:8080",
  "10.0.0.8",
  "[::1]",
];

const allowed: [address: string, isInside: boolean][] = [
  ["https://repo.example.net/a.jar", false],
  ["https://REPO.example.net:443/a.jar?x=1", false],
  ["https://repo.example.net:8443/a.jar", false],
  ["http://files.internal:8080/deep/a.jar", true],
];
const refused: [address: string, why: RegExp][] = [
  ["", /must be complete/],
  ["repo.example.net/a.jar", /must be complete/],
  ["file:///etc/passwd", /must be complete/],
  ["ftp://repo.example.net/a", /must be complete/],
  ["http:repo.example.net", /must be complete/],
  ["https://user:secret@repo.example.net/a", /no user name/],
  ["http://repo.example.net/a.jar", /https/],
  ["https://repo.example.net:444/a.jar", /Nothing is fetched from repo\.example\.net:444/],
  ["https://repo.example.net.evil.example/a", /Nothing is fetched/],
  ["https://evil.example/repo.example.net", /Nothing is fetched/],
  ["https://repo.example.net@evil.example/", /no user name/],
  ["https://sub.repo.example.net/a", /Nothing is fetched/],
  ["http://files.internal/a", /https/],
  ["https://files.internal:8080/a", /Nothing is fetched/],
  ["https://10.0.0.8/a", /public/],
  ["https://0x0a000008/a", /public/],
  ["https://[::1]/a", /public/],
];

describe("an address", () => {
  for (const [address, isInside] of allowed)
    test(`${address} is fetched`, () => {
      const checked = checkAddress(address, sources);
      assert.ok(!("problem" in checked), JSON.stringify(checked));
      assert.equal(checked.isInside, isInside);
    });
  for (const [address, why] of refused)
    test(`${JSON.stringify(address)} is refused`, () => {
      const checked = checkAddress(address, sources);
      assert.match("problem" in checked ? checked.problem : "", why);
    });
  test("is shown without what may be a secret", () =>
    assert.equal(shownAddress(new URL("https://a.example/b.jar?token=1#c")), "https://a.example/b.jar"));
});

describe("a source in the settings", () => {
  for (const text of ["repo.example.net", "a:8443", "http://files.internal:8080", "https://a.example"])
    test(`${text} is one`, () => assert.ok(isSource(text)));
  for (const text of [
    "",
    "https://a.example/",
    "ftp://a",
    "a/b",
    "A.example",
    "*.example.net",
    "http://a:80",
  ])
    test(`${JSON.stringify(text)} is none`, () => assert.ok(!isSource(text)));
});
