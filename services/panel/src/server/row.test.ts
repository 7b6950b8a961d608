import assert from "node:assert/strict";
import { test } from "node:test";
import {
  canBeStopped,
  hasConsole,
  isAtRest,
  type ListView,
  listViewOf,
  type ServerRow,
  selectRows,
} from "./row.ts";

const row = (name: string, more: Partial<ServerRow> = {}): ServerRow => ({
  name,
  subdomain: name,
  displayName: name,
  phase: "Stopped",
  playersOnline: 0,
  playersMax: 20,
  playersUnknown: false,
  isMine: false,
  claimable: false,
  isShared: false,
  owner: undefined,
  gaveUp: false,
  retiring: undefined,
  system: false,
  ...more,
});

const rows = [
  row("survival-10", { phase: "Running", playersOnline: 3 }),
  row("survival-2", { displayName: "生存 Two" }),
  row("creative", { phase: "Failed", owner: "Steve" }),
  row("sky", { gaveUp: true, tags: [{ name: "event", colour: "red" }] }),
];

test("the list shows what is searched for, in its order", () => {
  const all: ListView = { search: "", filter: "all", sort: "name", tag: "" };
  const cases: [Partial<ListView>, string[]][] = [
    [{}, ["creative", "sky", "survival-2", "survival-10"]],
    [{ search: "SURV 2" }, ["survival-2"]],
    [{ search: "生存" }, ["survival-2"]],
    [{ search: "steve" }, ["creative"]],
    [{ search: "nothing" }, []],
    [{ search: "EVENT" }, ["sky"]],
    [{ tag: "event" }, ["sky"]],
    [{ tag: "event", filter: "awake" }, []],
    [{ tag: "eve" }, []],
    [{ filter: "awake" }, ["survival-10"]],
    [{ filter: "asleep" }, ["sky", "survival-2"]],
    [{ filter: "failed" }, ["creative", "sky"]],
    [{ sort: "players" }, ["survival-10", "creative", "sky", "survival-2"]],
    [{ sort: "status" }, ["creative", "survival-10", "sky", "survival-2"]],
  ];
  for (const [view, expected] of cases) {
    const names = selectRows(rows, { ...all, ...view }).map(({ name }) => name);
    assert.deepEqual(names, expected, JSON.stringify(view));
  }
});

test("an address says how the list is shown; nonsense in it counts as nothing", () => {
  assert.deepEqual(listViewOf({ q: 42, show: "awake", sort: "players", tag: "event" }), {
    search: "42",
    filter: "awake",
    sort: "players",
    tag: "event",
  });
  assert.deepEqual(listViewOf({ q: {}, show: "x", sort: [] }), {
    search: "",
    filter: "all",
    sort: "name",
    tag: "",
  });
});

test("a failed start has to be stopped before its world can be changed", () => {
  const facts = [
    { phase: "Stopped", desiredState: "Stopped" },
    { phase: "Stopped", desiredState: "Running" },
    { phase: "Starting", desiredState: "Running" },
    { phase: "Running", desiredState: "Running" },
    { phase: "Stopping", desiredState: "Stopped" },
    { phase: "Failed", desiredState: "Running" },
    { phase: "Failed", desiredState: "Stopped" },
  ] as const;
  assert.deepEqual(facts.map(canBeStopped), [false, true, true, true, false, true, false]);
  assert.deepEqual(
    facts.map(({ phase }) => isAtRest(phase)),
    [true, true, false, false, false, false, false],
  );
});

test("a start that failed can be read in the console, a sleeping server has none", () => {
  const phases = ["Unknown", "Stopped", "Starting", "Running", "Stopping", "Failed"] as const;
  assert.deepEqual(phases.filter(hasConsole), ["Starting", "Running", "Stopping", "Failed"]);
});
