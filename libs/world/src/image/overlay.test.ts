import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createOverlay } from "./overlay.ts";

/** Layers from the bottom up, as people write them; a folder ends with a slash. Returns what shows, from the top down. */
function shown(...layers: string[][]): string[] {
  const overlay = createOverlay();
  const all: string[] = [];
  for (const layer of layers.toReversed()) {
    for (const entry of layer) {
      const path = entry.replace(/\/$/, "");
      if (overlay.admits(path, entry.endsWith("/") ? "folder" : "file")) all.push(path);
    }
    overlay.endLayer();
  }
  return all;
}

const cases: Record<string, { layers: string[][]; shows: string[] }> = {
  "a file of an upper layer replaces one below": { layers: [["a", "b"], ["a"]], shows: ["a", "b"] },
  "folders of both layers are one": {
    layers: [
      ["d/", "d/low"],
      ["d/", "d/up"],
    ],
    shows: ["d", "d/up", "d/low"],
  },
  "a removed file does not show": { layers: [["d/a", "d/b"], ["d/.wh.a"]], shows: ["d/b"] },
  "a removed folder takes what is in it along": { layers: [["d/", "d/x", "d/e/y"], [".wh.d"]], shows: [] },
  "a layer may remove a folder and have a new one": {
    layers: [["d/old"], [".wh.d", "d/", "d/new"]],
    shows: ["d", "d/new"],
  },
  "an emptied folder keeps only what is new": {
    layers: [
      ["d/", "d/old"],
      ["d/", "d/new", "d/.wh..wh..opq"],
    ],
    shows: ["d", "d/new"],
  },
  "an emptied root keeps only what is new": {
    layers: [
      ["a", "d/b"],
      [".wh..wh..opq", "c"],
    ],
    shows: ["c"],
  },
  "a file hides the folder below": { layers: [["d/", "d/x"], ["d"]], shows: ["d"] },
  "a folder hides the file below": { layers: [["d"], ["d/x"]], shows: ["d/x"] },
  "what was removed and came back shows": { layers: [["a"], [".wh.a"], ["a"]], shows: ["a"] },
  "a layer in between removes only what is below it": {
    layers: [["d/low"], [".wh.d"], ["d/up"]],
    shows: ["d/up"],
  },
  "a whiteout of something that is not there changes nothing": { layers: [["a"], [".wh.b"]], shows: ["a"] },
  "a name that begins as another is another": { layers: [["data2/x"], [".wh.data"]], shows: ["data2/x"] },
};

describe("layers on top of each other", () => {
  for (const [name, { layers, shows }] of Object.entries(cases)) {
    test(name, () => assert.deepEqual(shown(...layers), shows));
  }
  test("one layer can't have a file twice, or a file with entries in it", () => {
    assert.throws(() => shown(["a", "a"]), /has it twice/);
    assert.throws(() => shown(["a", "a/b"]), /entries below it/);
    assert.throws(() => shown(["a/b", "a"]), /has it twice/);
  });
});
