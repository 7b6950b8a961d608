import assert from "node:assert/strict";
import { test } from "node:test";
import { isPlainAddress } from "./address.ts";

test("an address that a mail program could parse as several is rejected", () => {
  for (const address of [
    "a,b@example.org",
    "a<b@example.org",
    '"a"@example.org',
    "a@example.org\r\nBcc: x@y.z",
  ])
    assert.equal(isPlainAddress(address), false, address);
  for (const address of ["a+b@example.org", "o'neil@example.org", "ü@example.org"])
    assert.equal(isPlainAddress(address), true, address);
});
