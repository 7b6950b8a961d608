import assert from "node:assert/strict";
import { test } from "node:test";
import { findSshTarget, readAddress } from "./target.ts";

const addresses: [text: string, host: string, user?: string | undefined, port?: number][] = [
  ["node-2", "node-2"],
  ["root@node-2", "node-2", "root"],
  ["root@node-2.example.com:2222", "node-2.example.com", "root", 2222],
  ["10.0.0.2:22", "10.0.0.2", undefined, 22],
  ["ops@[fd00::2]:22", "fd00::2", "ops", 22],
  ["[::1]", "::1"],
];
for (const [text, host, user, port] of addresses)
  test(`${text} is an address`, () =>
    assert.deepEqual(readAddress(text), { host, ...(user && { user }), ...(port && { port }) }));

const others = [
  ...["", "-oProxyCommand=touch x", "--", "-l", "root@-oProxyCommand=x", "-x@node-2", "@node-2", "root@"],
  ...[
    "a b",
    "a;b",
    "a$(b)",
    "a`b`",
    "a\nb",
    "a/b",
    "a'b",
    'a"b',
    "a%h",
    "a@b@c",
    "ssh://a",
    "a\0",
    "a\u001b[2J",
  ],
  ...["node-2:", "node-2:0", "node-2:65536", "node-2:-1", "node-2:22a", "fd00::2", "[node-2]", "[::1", "[]"],
  ...["n".repeat(254), `${"u".repeat(33)}@a`],
];
for (const text of others)
  test(`${JSON.stringify(text).slice(0, 40)} is no address`, () =>
    assert.equal(readAddress(text), undefined));

test("a file that is missing or that ssh would read otherwise is refused", () => {
  const known = (sshKnownHosts: string) => () => findSshTarget({ ssh: "a", sshKnownHosts });
  assert.throws(known("/nowhere/known_hosts"), { code: "ENOENT" });
  for (const path of ["/tmp/a b", "/tmp/%h", '/tmp/"', "/tmp/$HOME"])
    assert.throws(known(path), /ssh cannot read such a path/);
  assert.throws(() => findSshTarget({ sshKnownHosts: "/tmp/known" }), /needs --ssh/);
  assert.throws(() => findSshTarget({ ssh: "-v" }), /write \[USER@\]HOST/);
  assert.equal(findSshTarget({}), undefined);
});
