import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { serverTemplates } from "@svc/proto";
import { offeredText, savedText, templatesText } from "./text.ts";

const template = (change: Partial<serverTemplates.ListedTemplate> = {}): serverTemplates.ListedTemplate => ({
  ...{ name: "event", title: "Event night", description: "", offered: true, revision: 1 },
  ...{ changed_by: "ada", changed_at: "2026-01-01T00:00:00.000Z" },
  settings: { memory: "4Gi", idleStopSeconds: 600 },
  ...change,
});
const offer = (change: Partial<serverTemplates.OfferedTemplate> = {}): serverTemplates.OfferedTemplate => ({
  ...{ name: "event", title: "Event night", description: "", memory: "4Gi", storage: "8Gi" },
  ...{ autostartPolicy: "ownerOnly", idleStopSeconds: 600 },
  ...change,
});
const cells = (text: string) => text.split("\n").map((line) => line.split(/ {2,}/));

describe("templates of staff", () => {
  test("are a table with who may use each, what it sets, and why nothing can be made of it", () => {
    const kept = template({ name: "kept", offered: false, settings: {}, problem: "image_not_whitelisted" });
    assert.deepEqual(cells(templatesText([template(), kept])), [
      ["NAME", "TITLE", "FOR", "SETS", "PROBLEM"],
      ["event", "Event night", "accounts", "4Gi, stops after 600 s", "-"],
      ["kept", "Event night", "staff", "the defaults", "image_not_whitelisted"],
    ]);
  });
  test("where there are none, the command that makes one is named", () => {
    assert.match(templatesText([]), /`svc template save NAME --from SERVER`$/);
  });
});

describe("what an account is offered", () => {
  test("is a table with the reason in words, and how many servers it may still make", () => {
    const full = offer({ name: "large", problem: "quota_exceeded", detail: "memory: 6Gi of 8Gi used" });
    const gone = offer({ name: "old", image: "a:1", problem: "image_not_whitelisted" });
    assert.deepEqual(cells(offeredText({ templates: [offer(), full, gone], left: 1 })), [
      ["NAME", "TITLE", "MEMORY", "DISK", "IMAGE", "PROBLEM"],
      ["event", "Event night", "4Gi", "8Gi", "-", "-"],
      ["large", "Event night", "4Gi", "8Gi", "-", "memory: 6Gi of 8Gi used"],
      ["old", "Event night", "4Gi", "8Gi", "a:1", "image_not_whitelisted"],
      ["You can make 1 more server."],
    ]);
    assert.match(offeredText({ templates: [offer()], left: 0 }), /You can make 0 more servers\.$/);
  });
  test("is a sentence where it is nothing", () => {
    assert.equal(offeredText({ templates: [], left: 3 }), "No templates are offered.");
  });
});

test("what was saved says who may use it, and what of the server stayed behind", () => {
  const from = "survival";
  assert.equal(
    savedText(template(), { leftOut: [], from }),
    "Saved event: 4Gi, stops after 600 s; accounts may use it.",
  );
  assert.equal(
    savedText(template({ offered: false }), { leftOut: ["env", "reaperExempt"], from }),
    "Saved event: 4Gi, stops after 600 s; for staff alone; --offer lets accounts use it. Without env, reaperExempt of survival.",
  );
});
