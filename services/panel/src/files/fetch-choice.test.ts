import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fetchedNameOf, whyNoFetch } from "./fetch-choice.ts";

describe("a file from an address", () => {
  const good = { url: "https://a.example/b.jar", name: "b.jar", sha256: "" };
  const cases: Record<string, [change: Partial<typeof good>, why: string | undefined]> = {
    "is fetched": [{}, undefined],
    "may have a digest": [{ sha256: "aF".repeat(32) }, undefined],
    "needs a whole digest": [{ sha256: "af" }, "sha256"],
    "needs a complete address": [{ url: "a.example/b.jar" }, "url"],
    "comes from no disk": [{ url: "file:///etc/passwd" }, "url"],
    "needs a name": [{ name: "" }, "name"],
    "lies in no other folder": [{ name: "c/b.jar" }, "name"],
  };
  for (const [fact, [change, why]] of Object.entries(cases))
    test(fact, () => assert.equal(whyNoFetch({ ...good, ...change }), why));

  test("is called as in its address, where that is a name", () => {
    const names = [
      "https://a.example/x/My%20Plugin.jar?t=1",
      "https://a.example/",
      "a",
      "https://a.example/%2f",
      "https://a.example/%",
    ];
    assert.deepEqual(names.map(fetchedNameOf), ["My Plugin.jar", "", "", "", ""]);
  });
});
