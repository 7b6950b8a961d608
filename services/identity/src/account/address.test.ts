import assert from "node:assert/strict";
import { test } from "node:test";
import { maskAddress } from "./address.ts";

test("a masked address is recognizable to its holder only", () => {
  assert.equal(maskAddress("notch@mail.example.com"), "n***@m***.com");
});
