import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { serverTemplates as contracts } from "@svc/proto";
import { noLimits } from "../testing/fake-services.ts";
import { type Account, offerOf } from "./offer.ts";

const platform = {
  default_image: "svc.local/demo-server:1.21.4",
  default_memory: "2Gi",
  default_storage: "8Gi",
  idle_default: 600_000,
  heap_reserve_min: 512 * 2 ** 20,
};
const template: contracts.ListedTemplate = {
  ...{ name: "event", title: "Event", description: "", offered: true, revision: 1 },
  ...{ changed_by: "ada", changed_at: "2026-01-01T00:00:00.000Z" },
  settings: { memory: "4Gi", env: [{ name: "TOKEN", value: "secret" }], javaFlags: ["-Dsecret"] },
};
const used = { servers: 1, cpuMilli: 0, memoryMb: 0, storageMb: 0 };
const free: Account = { limits: noLimits, used, left: 1 };

const cases: readonly (readonly [
  fact: string,
  problem: contracts.ImageProblem | undefined,
  account: Account,
  expected: contracts.OfferedTemplate["problem"],
])[] = [
  ["can be used", undefined, free, undefined],
  ["can't be used with an image that is not allowed", "image_not_whitelisted", free, "image_not_whitelisted"],
  ["says that its image could not be checked", "image_unchecked", free, "image_unchecked"],
  ["can't be used by who has made all they may", undefined, { ...free, left: 0 }, "creation_limit"],
  [
    "can't be used by who owns all they may",
    undefined,
    { ...free, limits: { ...noLimits, max_servers: 1 } },
    "quota_exceeded",
  ],
  [
    "can't be used by who has no memory left",
    undefined,
    { ...free, limits: { ...noLimits, max_memory_mb: 4_095 } },
    "quota_exceeded",
  ],
  [
    "names the quota rather than an image that could not be checked",
    "image_unchecked",
    { ...free, limits: { ...noLimits, max_servers: 1 } },
    "quota_exceeded",
  ],
  ["names the image first", "image_not_in_registry", { ...free, left: 0 }, "image_not_in_registry"],
];

describe("a template that is offered", () => {
  for (const [fact, problem, account, expected] of cases)
    test(fact, () => {
      const offer = offerOf({ ...template, ...(problem && { problem }) }, account, platform);
      assert.equal(offer?.problem, expected);
      assert.equal(offer?.detail !== undefined, expected === "quota_exceeded");
    });

  test("says what a server of it gets, and none of its variables and flags", () => {
    const offer = offerOf(template, free, platform);
    assert.deepEqual(offer, {
      ...{ name: "event", title: "Event", description: "", memory: "4Gi", storage: "8Gi" },
      ...{ autostartPolicy: "ownerOnly", idleStopSeconds: 600 },
    });
  });

  test("is left out when its settings do not fit the installation any more", () => {
    const settings = { resources: { memoryRequest: "3Gi" } };
    assert.equal(offerOf({ ...template, settings }, free, platform), undefined);
  });
});
