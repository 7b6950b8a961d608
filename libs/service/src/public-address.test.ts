import assert from "node:assert/strict";
import { test } from "node:test";
import { isPublic } from "./public-address.ts";

test("private addresses are told from public ones", () => {
  const inside = [
    ...["127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"],
    ...[
      "224.0.0.1",
      "255.255.255.255",
      "::1",
      "::",
      "fe80::1",
      "fd00::1",
      "::ffff:10.0.0.1",
      "::ffff:8.8.8.8",
    ],
    ...["64:ff9b::a00:1", "2002:a00:1::", "2001:db8::1", "ff02::1"],
  ];
  for (const address of inside) assert.equal(isPublic(address), false, address);
  for (const address of ["8.8.8.8", "172.32.0.1", "2606:4700::1111"])
    assert.equal(isPublic(address), true, address);
});
