import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { forwardingKeyOf, serverForwardingSecret, systemForwardingSecrets } from "@svc/proto";
import { createForwarding } from "./secrets.ts";

const [old, next] = ["o".repeat(43), "n".repeat(43)];

test("a master is replaced while the proxy runs, and servers of both are reached until the old one goes", (t) => {
  const dir = mkdtempSync(join(tmpdir(), "svc-forwarding-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const file = join(dir, "master");
  const faults: string[] = [];
  let now = 0;
  const write = (text: string) => {
    writeFileSync(file, text);
    now += 1_000;
  };
  const run = { uid: "u", generation: 1 };
  const [before, after] = [old, next].map((master) => ({ name: "a", key: forwardingKeyOf(master, run) }));
  assert(before && after);
  write(old);
  const forwarding = createForwarding(file, {
    rereadMs: 1_000,
    now: () => now,
    onFault: (text) => faults.push(text),
  });
  assert.equal(forwarding.ofServer(before), serverForwardingSecret([old], before));
  assert.equal(forwarding.ofServer(after), undefined);
  write(`${next}\n${old}\n`);
  assert.equal(forwarding.ofServer(before), serverForwardingSecret([old], before));
  assert.equal(forwarding.ofServer(after), serverForwardingSecret([next], after));
  assert.equal(forwarding.ofSystem("login"), systemForwardingSecrets([next], "login")[0]);
  assert.equal(forwarding.ofTickets().length, 2);
  write("half writ");
  assert.equal(forwarding.ofServer(after), serverForwardingSecret([next], after));
  assert.match(faults.join(), /master can't be used/);
  assert.doesNotMatch(faults.join(), /half writ/);
  write(next);
  assert.equal(forwarding.ofServer(before), undefined);
});

test("without a master nothing is signed", () => {
  const forwarding = createForwarding(undefined, { rereadMs: 1, now: () => 0, onFault: () => undefined });
  assert.equal(forwarding.ofServer({ name: "a", key: "b.c" }), undefined);
  assert.equal(forwarding.ofSystem("lobby"), undefined);
  assert.deepEqual(forwarding.ofTickets(), []);
});
