import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePeers } from "./peers.ts";

const isTrusted = parsePeers("10.0.0.5, 10.1.0.0/16 fd00::/8,::1");
const peers: Record<string, boolean> = {
  "10.0.0.5": true,
  "10.0.0.6": false,
  "10.1.255.1": true,
  "10.2.0.1": false,
  "fd12::1": true,
  "fe80::1": false,
  "::1": true,
  "127.0.0.1": false,
  "": false,
  "not an address": false,
};
for (const [peer, wanted] of Object.entries(peers)) {
  test(`${peer || "no address"} is ${wanted ? "" : "not "}believed`, () =>
    assert.equal(isTrusted(peer), wanted));
}

for (const text of [
  "10.0.0",
  "10.0.0.0/33",
  "::/129",
  "10.0.0.0/8/8",
  "10.0.0.0/",
  "example.com",
  "10.0.0.0/-1",
]) {
  test(`${text} is neither an address nor a range`, () => {
    assert.throws(() => parsePeers(text), /trusted-proxies has/);
  });
}

test("an empty list trusts nobody", () => {
  assert.equal(parsePeers("")("127.0.0.1"), false);
});
