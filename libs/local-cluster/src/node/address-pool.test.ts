import assert from "node:assert/strict";
import { test } from "node:test";
import { createClusterIps } from "../apiserver/kinds/cluster-ip.ts";
import { createAddressPool } from "./address-pool.ts";

test("a pod keeps its address until it is released, and no other pod gets it", () => {
  const pool = createAddressPool();
  const first = pool.take("a", undefined);
  const others = Array.from({ length: 600 }, (_, at) => pool.take(`b-${at}`, undefined));
  assert.equal(pool.take("a", undefined), first);
  assert.equal(new Set([first, ...others]).size, 601);
  for (const address of others) {
    assert.match(address, /^127\.(6[4-9]|7\d)\.\d+\.\d+$/);
    assert.doesNotMatch(address, /\.(0|255)$/);
  }
});

test("after a restart a pod has the address that it had before, and it is taken", () => {
  const pool = createAddressPool();
  assert.equal(pool.take("a", "127.64.1.2"), "127.64.1.2");
  pool.release("a");
  assert.notEqual(pool.take("a", undefined), "127.64.1.2");
});

const service = (clusterIP: string) => ({
  ...{ apiVersion: "v1", kind: "Service", metadata: { name: "s" } },
  spec: { clusterIP },
});

test("a service gets an address after the highest one in use", () => {
  const ips = createClusterIps([service("127.96.0.9"), service("127.96.0.20"), service("None")]);
  assert.equal(ips.allot(undefined), "127.96.0.21");
  assert.equal(ips.allot(undefined), "127.96.0.22");
});

test("a service may ask for a free address of the range, and for no other", () => {
  const ips = createClusterIps([service("127.96.0.9")]);
  assert.equal(ips.allot("127.96.0.10"), "127.96.0.10");
  const messages = ["127.96.0.9", "10.0.0.1", "127.96.0", "127.96.0.256"].map((wanted) => {
    try {
      return ips.allot(wanted);
    } catch (error) {
      return (error as { status?: { message?: string } } & Error).message;
    }
  });
  assert.match(messages[0] ?? "", /provided IP is already allocated/);
  for (const message of messages.slice(1)) assert.match(message, /not in the valid range 127\.96\.0\.0\/12/);
  ips.take("127.96.0.11");
  assert.throws(() => ips.allot("127.96.0.11"));
  ips.release("127.96.0.11");
  assert.equal(ips.allot("127.96.0.11"), "127.96.0.11");
});
