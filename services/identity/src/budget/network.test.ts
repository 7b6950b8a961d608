import assert from "node:assert/strict";
import { test } from "node:test";
import { networkOf } from "./network.ts";

const networks: Record<string, [address: string, groups: number, network: string]> = {
  "an IPv4 address is its own network": ["192.0.2.7", 4, "192.0.2.7"],
  "an IPv6 client counts as its /64": ["2001:db8:1:2:3:4:5:6", 4, "2001:db8:1:2::/64"],
  "an abbreviated address is in the same network": ["2001:DB8:0001:2::6", 4, "2001:db8:1:2::/64"],
  "the customer of a provider counts as a /48": ["2001:db8:1:2::6", 3, "2001:db8:1::/48"],
  "a zone is not part of an address": ["fe80::1%eth0", 4, "fe80:0:0:0::/64"],
  "a text that is not an address is kept unchanged": ["", 4, ""],
};
for (const [fact, [address, groups, network]] of Object.entries(networks)) {
  test(fact, () => assert.equal(networkOf(address, groups), network));
}
