import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptsOf } from "./build-script.ts";

test("all scripts of a document name its build: one of them may be the same in the next build", () => {
  const script = (name: string) => `<script type="module" crossorigin src="/assets/${name}.js"></script>`;
  const html = `<html><head>${script("first-paint-abc")}\n<title>svc</title>${script("index-def")}</head></html>`;
  assert.equal(scriptsOf(html), "/assets/first-paint-abc.js /assets/index-def.js");
  assert.equal(scriptsOf("<h1>Bad gateway</h1>"), undefined);
});
