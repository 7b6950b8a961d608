import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { closestOf, parseSources } from "./read.ts";

const head = "apiVersion: svc/v1\nkind: Server\nname: survival\n";
const problemsOf = (text: string) => parseSources([{ name: "a.yaml", text }]).problems;

describe("what is wrong in a file is told by line", () => {
  const table: [fact: string, text: string, problem: RegExp][] = [
    [
      "an unknown field has the closest name",
      `${head}settings:\n  displyName: x`,
      /^a\.yaml:5: settings\.displyName: there is no such field; did you mean displayName\?$/,
    ],
    [
      "one that is like nothing has none",
      `${head}players: 3`,
      /^a\.yaml:4: players: there is no such field$/,
    ],
    [
      "in a task",
      `${head}schedules:\n- action: stop\n  at: 01:00\n  waarn: 5`,
      /:7: schedules\.0\.waarn: .* did you mean warn\?/,
    ],
    [
      "a value out of range",
      `${head}settings: {idleStopSeconds: 5}`,
      /:4: settings\.idleStopSeconds: must be 0 \(off\) or 60/,
    ],
    [
      "at and every",
      `${head}schedules: [{action: stop, at: 1:00, every: 60}]`,
      /schedules\.0\.at: give one of at, every and when/,
    ],
    [
      "for without server_empty",
      `${head}schedules: [{action: stop, when: server_started, for: 5}]`,
      /schedules\.0\.for: /,
    ],
    [
      "a pause by the clock",
      `${head}schedules: [{action: stop, at: 1:00, pause: 5}]`,
      /schedules\.0\.pause: /,
    ],
    [
      "a trigger with a time",
      `${head}schedules: [{action: stop, at: 1:00, when: server_empty}]`,
      /at, every and when/,
    ],
    [
      "a warning of a trigger",
      `${head}schedules: [{action: stop, when: server_empty, warn: 5}]`,
      /schedules\.0\.warn: /,
    ],
    [
      "days of a trigger",
      `${head}schedules: [{action: stop, when: server_empty, days: [sun]}]`,
      /schedules\.0\.days: /,
    ],
    [
      "a command with another action",
      `${head}schedules: [{action: stop, at: 1:00, command: x}]`,
      /command alone, not stop/,
    ],
    [
      "a command with the action of a step that has none",
      `${head}schedules: [{action: stop, at: 1:00, nextSteps: [{action: start}, {action: start, command: x}]}]`,
      /schedules\.0\.nextSteps\.1\.command: .*command alone, not start/,
    ],
    [
      "a step that is too heavy for how often it runs",
      `${head}schedules: [{action: command, command: list, every: 15, nextSteps: [{action: backup}]}]`,
      /schedules\.0\.every: a backup repeats at most every 60 minutes/,
    ],
    [
      "in a step",
      `${head}schedules: [{action: stop, at: 1:00, nextSteps: [{action: start, wiat: 5}]}]`,
      /nextSteps\.0\.wiat: .* did you mean wait\?/,
    ],
    [
      "a condition of what was before the first step",
      `${head}schedules: [{action: stop, at: 1:00, onlyIf: previous_failed}]`,
      /schedules\.0\.onlyIf: /,
    ],
    ["a reserved name", "apiVersion: svc/v1\nkind: Server\nname: lobby", /:3: name: .* not a reserved name/],
    ["another kind", "apiVersion: svc/v1\nkind: Pod\nname: one", /:2: kind: /],
    ["broken YAML in the second document", `${head}---\na: [1`, /^a\.yaml:5: /],
    ["an empty file", "# nothing\n", /a\.yaml: no server is in it/],
  ];
  for (const [fact, text, problem] of table)
    test(fact, () => assert.match(problemsOf(text).join("\n"), problem));

  test("many aliases are refused", () => {
    const bomb = `a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]`;
    assert.match(problemsOf(bomb).join("\n"), /a\.yaml:\d+: Excessive alias count/);
  });
  test("the closest name is close", () => {
    const names = ["idleStopSeconds", "image", "memory", "node"];
    assert.deepEqual(
      ["idelStopSeconds", "idleStop", "Memory", "imgae", "nodeName", "port"].map((name) =>
        closestOf(name, names),
      ),
      ["idleStopSeconds", "idleStopSeconds", "memory", "image", "node", undefined],
    );
  });
});
