import assert from "node:assert/strict";
import { test } from "node:test";
import { addressKey } from "./address.ts";

const keys: Record<string, string> = {
  "203.0.113.9": "203.0.113.9",
  "::1": "0:0:0:0::/64",
  "::": "0:0:0:0::/64",
  "2001:db8::1": "2001:db8:0:0::/64",
  "2001:0DB8:0:0:ffff:1:2:3": "2001:db8:0:0::/64",
  "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
  "2001:db8:1:2:3:4:5::": "2001:db8:1:2::/64",
  "fe80::1%eth0": "fe80:0:0:0::/64",
  "::ffff:203.0.113.9": "203.0.113.9",
  "::FFFF:cb00:7109": "203.0.113.9",
  "::ffff:0:0": "0.0.0.0",
  "::fffe:203.0.113.9": "0:0:0:0::/64",
  "": "",
};
for (const [address, key] of Object.entries(keys))
  test(`${address || "no address"} counts as ${key || "no address"}`, () =>
    assert.equal(addressKey(address), key));
