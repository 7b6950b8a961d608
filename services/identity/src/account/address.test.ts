import assert from "node:assert/strict";
import { test } from "node:test";
import { maskAddress } from "./address.ts";

test("a masked address tells its holder enough and others too little", () => {
  assert.equal(maskAddress("notch@mail.example.com"), "n***@m***.com");
});
