import assert from "node:assert/strict";
import { test } from "node:test";
import { shortcutOf } from "./shortcut.ts";

const none = {
  key: "",
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  repeat: false,
  isComposing: false,
  defaultPrevented: false,
};
const page = { isMac: false, isTyping: false, isInDialog: false, hasSingleKeys: true };

const cases = [
  ["Ctrl K opens the palette", { key: "k", ctrlKey: true }, {}, "palette"],
  ["Ctrl K opens it with the caps lock as well", { key: "K", ctrlKey: true }, {}, "palette"],
  ["Ctrl K opens it while somebody types", { key: "k", ctrlKey: true }, { isTyping: true }, "palette"],
  ["⌘ K opens it on a Mac", { key: "k", metaKey: true }, { isMac: true }, "palette"],
  ["Ctrl K belongs to the text on a Mac", { key: "k", ctrlKey: true }, { isMac: true }, undefined],
  ["Ctrl Shift K belongs to the browser", { key: "K", ctrlKey: true, shiftKey: true }, {}, undefined],
  ["a dialog keeps its keys", { key: "k", ctrlKey: true }, { isInDialog: true }, undefined],
  ["/ searches", { key: "/" }, {}, "search"],
  ["? helps, with the shift key of most keyboards", { key: "?", shiftKey: true }, {}, "help"],
  ["/ is a letter where somebody types", { key: "/" }, { isTyping: true }, undefined],
  ["single keys do nothing when they are off", { key: "?" }, { hasSingleKeys: false }, undefined],
  ["Ctrl K works without single keys", { key: "k", ctrlKey: true }, { hasSingleKeys: false }, "palette"],
  ["a key of an input method is not a shortcut", { key: "/", isComposing: true }, {}, undefined],
  ["a key that is held down counts once", { key: "?", repeat: true }, {}, undefined],
  [
    "a key that something took already is not a shortcut",
    { key: "/", defaultPrevented: true },
    {},
    undefined,
  ],
  ["other keys do nothing", { key: "x" }, {}, undefined],
] as const;
for (const [name, key, about, expected] of cases)
  test(name, () => assert.equal(shortcutOf({ ...none, ...key }, { ...page, ...about }), expected));
