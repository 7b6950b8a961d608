import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readWhole } from "./commands.ts";

const entryOf = (name: string) => ({ name, size: 0, is_dir: false, mod_time: "2026-01-01T00:00:00.000Z" });

/** Answers pages of so many names as the platform does: from a name on, that name first. */
function folderOf(names: string[], most: number) {
  const asked: (string | undefined)[] = [];
  const readPage = async (from?: string) => {
    asked.push(from);
    const left = names.filter((name) => name >= (from ?? "")).sort();
    const entries = left.slice(0, most).map(entryOf);
    return { path: "", entries, truncated: left.length > most, free_bytes: 7 };
  };
  return { asked, readPage };
}

describe("a folder is read whole", () => {
  const cases: [fact: string, names: string[], asked: (string | undefined)[]][] = [
    ["an empty one at once", [], [undefined]],
    ["what fits one page at once", ["a", "b", "c"], [undefined]],
    ["what is one more from the last name on", ["a", "b", "c", "d"], [undefined, "c"]],
    ["many pages, each name once", ["a", "b", "c", "d", "e", "f", "g", "h"], [undefined, "c", "e", "g"]],
  ];
  for (const [fact, names, wanted] of cases)
    test(fact, async () => {
      const { asked, readPage } = folderOf(names, 3);
      const whole = await readWhole(readPage);
      assert.deepEqual(
        [whole.entries.map(({ name }) => name), whole.truncated, whole.free_bytes, asked],
        [names, false, 7, wanted],
      );
    });

  test("names that come and go meanwhile neither repeat others nor end the list", async () => {
    const names = ["a", "b", "c", "d", "e"];
    const { readPage } = folderOf(names, 3);
    const whole = await readWhole(async (from) => {
      if (from === "c") names.splice(names.indexOf("c"), 1, "bb");
      return readPage(from);
    });
    assert.deepEqual(
      whole.entries.map(({ name }) => name),
      ["a", "b", "c", "d", "e"],
    );
  });

  test("pages that bring nothing further end it, and it says that more is there", async () => {
    const page = { path: "", entries: [entryOf("a")], truncated: true, free_bytes: null };
    assert.deepEqual(await readWhole(async () => page), page);
  });
});
