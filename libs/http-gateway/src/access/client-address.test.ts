import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { normalAddress } from "./client-address.ts";
import { isAdminHost, normalHost } from "./host.ts";

describe("hosts and addresses", () => {
  const hosts: [string, string][] = [
    ["Op.Console.Test.:443", "op.console.test"],
    ["127.0.0.1:8080", "127.0.0.1"],
    ["[2001:DB8::1]:80", "2001:db8::1"],
  ];
  for (const [host, normal] of hosts)
    test(`${host} is ${normal}`, () => assert.equal(normalHost(host), normal));
  test("a bare address is the console only when the setting names it", () => {
    assert.equal(isAdminHost("127.0.0.1:8080", "op.console.test"), false);
    assert.equal(isAdminHost("127.0.0.1:8080", "127.0.0.1"), true);
    assert.equal(isAdminHost("", ""), false);
  });
  const addresses: [string, string | undefined][] = [
    ["::ffff:10.1.2.3", "10.1.2.3"],
    ["::ffff:a01:203", "10.1.2.3"],
    ["fe80::1%eth0", "fe80::1"],
    ["2001:DB8::1", "2001:db8::1"],
    ["10.1.2.3", "10.1.2.3"],
    ["10.1.2", undefined],
    ["", undefined],
  ];
  for (const [text, normal] of addresses) {
    test(`the address ${JSON.stringify(text)} is ${normal}`, () => assert.equal(normalAddress(text), normal));
  }
});
