import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { serverFilters } from "@svc/proto";
import { filterText, findOwn, type MyServer, pickFilter } from "./filter-match.ts";

const row = (name: string, more: Partial<MyServer> = {}): MyServer => ({
  ...{ name, subdomain: name, owned: true, claimable: false, phase: "Stopped" },
  ...{ playersOnline: 0, playersMax: 20 },
  ...more,
});
const rows = [
  row("srv-10", { tags: [{ name: "event", colour: "red" }] }),
  row("srv-9", { phase: "Running", playersOnline: 2, displayName: "Night of Towers" }),
  row("srv-8", { phase: "Failed" }),
  row("srv-7", { startGaveUp: true }),
  row("srv-6", { retiring: { requested_at: "2026-01-01T00:00:00.000Z", delete: false } as never }),
];
const filter = (more: Partial<serverFilters.ServerFilter> = {}): serverFilters.ServerFilter => ({
  ...{ id: "flt-1", name: "Mine", search: "", tag: "", node: "", sort: "name" },
  ...more,
});

describe("a filter in the own list", () => {
  const cases: [fact: string, more: Partial<serverFilters.ServerFilter>, names: string][] = [
    ["finds words in any order and case", { search: "towers NIGHT" }, "srv-9"],
    ["finds a tag as a word", { search: "event" }, "srv-10"],
    ["finds a tag", { tag: "event" }, "srv-10"],
    ["finds those that are awake", { show: "awake" }, "srv-9"],
    ["finds those that failed", { show: "failed" }, "srv-7 srv-8"],
    ["finds those that need somebody", { show: "attention" }, "srv-6 srv-7 srv-8"],
    ["finds those that sleep, 9 before 10", { show: "asleep" }, "srv-6 srv-7 srv-10"],
    ["orders by players", { sort: "players" }, "srv-9 srv-6 srv-7 srv-8 srv-10"],
    ["orders by what needs somebody", { sort: "phase" }, "srv-8 srv-9 srv-6 srv-7 srv-10"],
  ];
  for (const [fact, more, names] of cases)
    test(fact, () => {
      const found = findOwn(rows, filter(more)).map(({ name }) => name);
      assert.equal(found.join(" "), names);
    });
  for (const more of [{ show: "unowned" }, { node: "n" }, { sort: "owner" }, { sort: "node" }] as const)
    test(`${JSON.stringify(more)} is for operators`, () => {
      assert.throws(() => findOwn(rows, filter(more)), /list of operators; sign in/);
    });
});

test("a filter is found by its name or id, and says what it finds", () => {
  assert.equal(pickFilter([filter()], "Mine").id, "flt-1");
  assert.equal(pickFilter([filter()], "flt-1").name, "Mine");
  assert.throws(() => pickFilter([filter()], "Other"), /you have no filter Other/);
  const all = filter({ search: "a b", show: "awake", tag: "event", node: "n", sort: "players" });
  assert.equal(filterText(all), '"a b", awake, tag event, node n, by players');
});
