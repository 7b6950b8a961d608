import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptOf } from "./build-script.ts";

test("the script of a document names its build", () => {
  const html =
    '<html><head><script type="module" crossorigin src="/assets/index-abc.js"></script></head></html>';
  assert.equal(scriptOf(html), "/assets/index-abc.js");
  assert.equal(scriptOf("<h1>Bad gateway</h1>"), undefined);
});
