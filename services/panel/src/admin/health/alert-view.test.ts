import assert from "node:assert/strict";
import { test } from "node:test";
import { health as words } from "../../words/en/health.ts";
import { type Alert, type AlertStatus, decideHealth, healthSentence, silenceKeysOf } from "./alert-view.ts";

const alert = (about: Partial<Alert>): Alert => ({
  key: "service/storage",
  severity: "critical",
  summary: { en: "storage does not answer.", zh: "storage 没有响应。" },
  hint: { en: "Look at its log.", zh: "请查看其日志。" },
  state: "firing",
  event: false,
  since: "2026-11-23T02:00:00Z",
  ...about,
});
const disk = alert({
  key: "disk//",
  severity: "warning",
  summary: { en: "The disk is full.", zh: "磁盘已满。" },
});
const storage = alert({});
const pending = alert({ state: "pending" });
const unknown = [{ prefix: "server/", reason: "the cluster is away" }];
const unconfigured = [
  { prefix: "mail-relay", reason: "no mail relay is configured", configured: false as const },
];
const well = { checked_at: "2026-11-23T02:00:00Z", stale: false, alerts: [], unknown: [] };

for (const [sentence, given, state, said] of [
  ["nothing is wrong", {}, "well", words.alerts.sentences.well],
  ["nothing was checked yet", { checked_at: null, stale: true }, "never-checked", undefined],
  ["old findings say nothing about now", { stale: true, alerts: [storage] }, "out-of-date", undefined],
  ["one critical alert is the sentence", { alerts: [storage] }, "critical", "storage does not answer."],
  ["one warning is the sentence", { alerts: [disk] }, "warning", "The disk is full."],
  [
    "several are counted behind the worst",
    { alerts: [storage, disk] },
    "critical",
    words.alerts.andMore("storage does not answer.", 1),
  ],
  ["one that is not sent yet is not an alert", { alerts: [pending] }, "well", undefined],
  ["a probe that cannot judge leaves it open", { unknown }, "unsure", undefined],
  ["what is not set up leaves nothing open", { unknown: unconfigured }, "well", undefined],
  ["what fires is said first", { alerts: [disk], unknown }, "warning", undefined],
] as readonly (readonly [string, Partial<AlertStatus>, string, string | undefined])[]) {
  test(sentence, () => {
    const health = decideHealth({ ...well, ...given });
    assert.equal(health.state, state);
    if (said !== undefined) assert.equal(healthSentence(health, words, "en"), said);
  });
}

test("the sentence is in the reader's language", () => {
  const health = decideHealth({ ...well, alerts: [storage] });
  assert.equal(healthSentence(health, words, "zh-CN"), "storage 没有响应。");
});

test("a silence covers an alert, its kind, or everything", () => {
  assert.deepEqual(silenceKeysOf("disk//var/lib"), { alone: "disk//var/lib", kind: "disk/*", all: "*" });
  assert.deepEqual(silenceKeysOf("heartbeat"), { alone: "heartbeat", kind: "heartbeat", all: "*" });
});
