import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decideDraft, draftOf, emptyDraft, type FormDraft, type Template, withSettings } from "./draft.ts";

const template: Template = {
  ...{ name: "event", title: "Event", description: "One evening", offered: true, revision: 3 },
  ...{ changed_by: "ada", changed_at: "2026-01-01T00:00:00.000Z" },
  settings: {
    ...{ image: "a:1", memory: "2Gi", storage: "8Gi", autostartPolicy: "public", idleStopSeconds: 90 },
    resources: { cpu: "2", cpuRequest: "1" },
    javaFlags: ["-XX:+UseZGC", "-Da=b"],
    env: [
      { name: "MODE", value: "a=b" },
      { name: "EMPTY", value: "" },
    ],
    tags: [{ name: "event", colour: "blue" }],
    motd: { running: "Come in" },
  },
};
const { revision: _, changed_by: _b, changed_at: _a, ...written } = template;
const draft = draftOf(template);

test("a template that is opened and saved says the same, also what the form does not show", () => {
  assert.deepEqual(decideDraft(draft), { problems: [], body: written });
});

test("what is emptied is left to the platform, and the rest stays", () => {
  const { storage: _s, motd, tags, image } = template.settings;
  const emptied = { ...draft, memory: "", storage: "", cpu: "", policy: "" as const, idleMinutes: " " };
  assert.deepEqual(decideDraft({ ...emptied, flags: "\n", env: "" }).body?.settings, {
    ...{ image, motd, tags },
    resources: { cpuRequest: "1" },
  });
});

test("the settings of a server take the place of all, and names stay", () => {
  assert.deepEqual(decideDraft(withSettings(draft, { memory: "1Gi" })).body, {
    ...{ name: "event", title: "Event", description: "One evening", offered: true },
    settings: { memory: "1Gi" },
  });
});

describe("what cannot be saved is named", () => {
  const cases: readonly (readonly [fact: string, change: Partial<FormDraft>, problem: string])[] = [
    ["no name", { name: "" }, "name"],
    ["a name with a capital", { name: "Event" }, "name"],
    ["a name with a dash at its edge", { name: "-a" }, "name"],
    ["a memory that is none", { memory: "much" }, "memory"],
    ["a disk of nothing", { storage: "0" }, "storage"],
    ["a processor that is none", { cpu: "fast" }, "cpu"],
    ["half a minute", { idleMinutes: "0.5" }, "idle"],
    ["more than a day", { idleMinutes: "1441" }, "idle"],
    ["a time that is none", { idleMinutes: "soon" }, "idle"],
    ["a variable without a sign", { env: "MODE" }, "env"],
    ["a variable without a name", { env: "=x" }, "env"],
  ];
  for (const [fact, change, problem] of cases)
    test(fact, () =>
      assert.deepEqual(decideDraft({ ...draft, ...change }), { body: undefined, problems: [problem] }),
    );
  test("an empty form has no name yet", () => {
    assert.deepEqual(decideDraft(emptyDraft).problems, ["name"]);
    assert.deepEqual(decideDraft({ ...emptyDraft, name: "a", idleMinutes: "0" }).body?.settings, {
      idleStopSeconds: 0,
    });
  });
});
