import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { nodeLabels } from "@svc/proto/node-labels";
import { heapOf, parseQuantity } from "../cluster/quantity.ts";
import { aServer } from "../testing/observed.ts";
import { costsOf, faultOfDisplayName, faultOfOwnIdle, mergeResources } from "./input.ts";
import { placeServer } from "./placement.ts";

const reserve = 512 * 2 ** 20;

describe("the heap leaves a reserve", () => {
  const rows: [fact: string, limit: string, heap: string | undefined][] = [
    ["of a quarter of a large limit", "8Gi", "6144M"],
    ["of 512 MiB of a middle one", "1536Mi", "1024M"],
    ["of at most half of a small one", "512Mi", "256M"],
    ["also of a decimal quantity", "2G", "1395M"],
    ["and there is none without a limit", "many", undefined],
  ];
  for (const [fact, limit, heap] of rows) test(fact, () => assert.equal(heapOf(limit, reserve), heap));
});

describe("a quantity", () => {
  const rows: [text: string, value: number | undefined][] = [
    ["8Gi", 8 * 2 ** 30],
    ["500m", 0.5],
    ["1.5", 1.5],
    ["1e3", 1_000],
    ["2E", 2e18],
    ["1Ei", 2 ** 60],
    ["", undefined],
    ["8 Gi", undefined],
    ["8gib", undefined],
    ["0x10", undefined],
  ];
  for (const [text, value] of rows) {
    test(`${JSON.stringify(text)} is ${value ?? "none"}`, () => assert.equal(parseQuantity(text), value));
  }
});

describe("an idle stop that an owner sets", () => {
  const bounds = { owner_idle_min: 120_000, owner_idle_max: 3_600_000, owner_idle_off: false };
  const rows: [seconds: number, isFine: boolean, whereItMayBeOff: boolean][] = [
    [120, true, true],
    [3_600, true, true],
    [119, false, false],
    [3_601, false, false],
    [0, false, true],
    [-60, false, false],
  ];
  for (const [seconds, isFine, whereItMayBeOff] of rows) {
    test(`of ${seconds} s is ${isFine ? "" : "not "}within 120 s to an hour`, () => {
      assert.equal(faultOfOwnIdle(seconds, bounds) === undefined, isFine);
      assert.equal(
        faultOfOwnIdle(seconds, { ...bounds, owner_idle_off: true }) === undefined,
        whereItMayBeOff,
      );
    });
  }
  test("is never longer than what staff may set", () => {
    assert.equal(faultOfOwnIdle(86_401, { ...bounds, owner_idle_max: 90_000_000 })?.fault, "bad_idle_stop");
  });
});

describe("a display name", () => {
  const rows: [name: string, text: string, isFine: boolean][] = [
    ["of 64 pictures", "🐉".repeat(64), true],
    ["with a family joined of several", "👨‍👩‍👧", true],
    ["with a tab", "a\tb", false],
    ["with a control character", "a\u0007", false],
    ["with a direction override", "a\u202eb", false],
  ];
  for (const [name, text, isFine] of rows) {
    test(`${name}: ${isFine}`, () => assert.equal(faultOfDisplayName(text) === undefined, isFine));
  }
});

test("the heap changes only with the memory limit", () => {
  const before = { resources: { limits: { memory: "2Gi" } }, javaMemory: "999M" };
  const settings = { heap_reserve_min: reserve };
  const same = mergeResources(before, { resources: { memoryRequest: "1Gi", memory: "2Gi" } }, settings);
  assert.equal(same.kind === "fine" && same.javaMemory, "999M");
  const more = mergeResources(before, { resources: { memory: "4Gi" } }, settings);
  assert.equal(more.kind === "fine" && more.javaMemory, "3072M");
});

test("a server costs its limits", () => {
  const spec = {
    ...aServer().spec,
    resources: { limits: { cpu: "1500m", memory: "2Gi" } },
    storage: { size: "8Gi" },
  };
  assert.deepEqual(costsOf(spec), { cpuMilli: 1_500, memoryMb: 2_048, storageMb: 8_192 });
});

test("the costs of an absurdly large server are capped at what a quota can count", () => {
  const spec = { ...aServer().spec, resources: { limits: { cpu: "1e12", memory: "8Ei" } } };
  assert.deepEqual(costsOf(spec), { cpuMilli: 2_147_483_647, memoryMb: 2_147_483_647, storageMb: 0 });
});

test("a server is placed on the approved node with the most unassigned memory", () => {
  const node = (name: string, memory: string, labels: Record<string, string> = {}) => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        [nodeLabels.identity]: name,
        [nodeLabels.role]: "worker",
        [nodeLabels.approved]: "true",
        ...labels,
      },
    },
    status: { allocatable: { memory }, conditions: [{ type: "Ready", status: "True" }] },
  });
  const nodes = [
    node("a", "16Gi"),
    node("b", "12Gi"),
    node("waiting", "64Gi", { [nodeLabels.approved]: "false" }),
    node("controller", "64Gi", { [nodeLabels.role]: "controller" }),
  ];
  const promised = aServer({ nodeName: "a", resources: { limits: { memory: "8Gi" } } });
  assert.equal(placeServer(nodes, []), "a");
  assert.equal(placeServer(nodes, [promised]), "b");
  assert.equal(placeServer([], [promised]), undefined);
});
