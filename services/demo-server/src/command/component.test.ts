import assert from "node:assert/strict";
import { test } from "node:test";
import { componentNbt } from "./component.ts";

const string = (value: string) => ({ type: "string", value });
const compound = (value: object) => ({ type: "compound", value });
const list = (...value: object[]) => ({ type: "list", value: { type: "compound", value } });

test("colours, styles and events of a text stay", () => {
  const component = {
    ...{ text: "Map", color: "gold", bold: true },
    clickEvent: { action: "open_url", value: "https://example.com" },
    hoverEvent: { action: "show_text", contents: { text: "open", italic: false } },
    extra: ["!", { text: 5 }],
  };
  assert.deepEqual(
    componentNbt(component),
    compound({
      ...{ text: string("Map"), color: string("gold"), bold: { type: "byte", value: 1 } },
      clickEvent: compound({ action: string("open_url"), value: string("https://example.com") }),
      hoverEvent: compound({
        action: string("show_text"),
        contents: compound({ text: string("open"), italic: { type: "byte", value: 0 } }),
      }),
      extra: list({ text: string("!") }, { text: string("5") }),
    }),
  );
});

test("a list is its first part with the others behind it", () => {
  const parts = [{ text: "a", color: "red", extra: ["b"] }, "c"];
  assert.deepEqual(
    componentNbt(parts),
    compound({
      text: string("a"),
      color: string("red"),
      extra: list({ text: string("b") }, { text: string("c") }),
    }),
  );
  for (const plain of ["x", ["x"], [["x"]]])
    assert.deepEqual(componentNbt(plain), compound({ text: string("x") }));
});

test("texts nested too deep are refused before the stack overflows", () => {
  const deep = JSON.parse(`${"[".repeat(10_000)}${"]".repeat(10_000)}`) as unknown;
  assert.throws(() => componentNbt(deep), RangeError);
});
