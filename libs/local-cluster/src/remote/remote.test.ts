import assert from "node:assert/strict";
import { test } from "node:test";
import type { Source } from "../controllers/informer.ts";
import type { Service } from "../controllers/network/service-index.ts";
import { createAddressPool, rangeOf } from "../node/address-pool.ts";
import type { Endpoints } from "../node/service-proxy.ts";
import { addressesOf, answerOf } from "./dns-server.ts";

function sourceOf<T>(objects: Record<string, unknown>): Source<never> & T {
  const source = {
    get: (key: string) => objects[key],
    values: () => [],
    onChange: () => {},
    assume: () => {},
  };
  return source as never;
}

const sources = {
  services: sourceOf<Source<Service>>({
    "svc/nats": { spec: { clusterIP: "10.96.0.7" } },
    "svc/peers": { spec: { clusterIP: "None" } },
  }),
  endpoints: sourceOf<Source<Endpoints>>({
    "svc/peers": {
      subsets: [{ addresses: [{ ip: "10.244.0.2", hostname: "nats-0" }, { ip: "10.244.0.3" }] }],
    },
  }),
};

const names = [
  ["nats.svc.svc.cluster.local", ["10.96.0.7"]],
  ["NATS.svc.svc.cluster.local.", ["10.96.0.7"]],
  ["peers.svc.svc.cluster.local", ["10.244.0.2", "10.244.0.3"]],
  ["nats-0.peers.svc.svc.cluster.local", ["10.244.0.2"]],
  ["nats-9.peers.svc.svc.cluster.local", undefined],
  ["none.svc.svc.cluster.local", undefined],
  ["nats.svc.svc.cluster.local.svc.svc.cluster.local", undefined],
  ["example.net", undefined],
] as const;

for (const [name, wanted] of names)
  test(`${name} is ${wanted?.join(", ") ?? "no name of the cluster"}`, () => {
    assert.deepEqual(addressesOf(name, sources), wanted);
  });

function queryFor(name: string, type = 1): Buffer {
  const labels = name.split(".").flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]);
  const header = Buffer.from([0x12, 0x34, 0x01, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  return Buffer.concat([header, ...labels, Buffer.from([0, 0, type, 0, 1])]);
}

test("a query is answered with its id, its question and an address, an unknown name with NXDOMAIN", () => {
  const query = queryFor("nats.svc.svc.cluster.local");
  const answer = answerOf(query, sources) ?? Buffer.alloc(0);
  assert.equal(answer.readUInt16BE(0), 0x1234);
  assert.equal(answer.readUInt16BE(6), 1);
  assert.deepEqual([...answer.subarray(-4)], [10, 96, 0, 7]);
  assert.equal((answerOf(queryFor("example.net"), sources)?.readUInt16BE(2) ?? 0) & 0xf, 3);
  const ipv6 = answerOf(queryFor("nats.svc.svc.cluster.local", 28), sources);
  assert.deepEqual([ipv6?.readUInt16BE(6), (ipv6?.readUInt16BE(2) ?? 1) & 0xf], [0, 0]);
});

test("what is not a query has no answer", () => {
  const query = queryFor("nats.svc.svc.cluster.local");
  for (let length = 0; length < query.length; length += 1)
    assert.equal(answerOf(query.subarray(0, length), sources), undefined, `${length} bytes`);
  assert.equal(answerOf(Buffer.alloc(64, 0xff), sources), undefined);
});

test("pods get addresses of the network that the nodes were given", () => {
  const pool = createAddressPool(rangeOf("10.244.0.0/16"));
  const all = Array.from({ length: 300 }, (_, at) => pool.take(`pod-${at}`, undefined));
  assert.ok(all.every((address) => /^10\.244\.\d+\.\d+$/.test(address)));
  assert.equal(new Set(all).size, 300);
});
