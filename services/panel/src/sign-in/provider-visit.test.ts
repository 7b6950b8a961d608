import assert from "node:assert/strict";
import { test } from "node:test";
import { type Return, readReturn } from "./provider-visit.ts";

const kept = JSON.stringify({ isLink: false, secret: "own", next: "/servers" });
const cases: [what: string, query: string, kept: string | null, expected: Return][] = [
  [
    "an answer that this tab asked for",
    "?code=c&state=s&iss=https%3A%2F%2Fa.example",
    kept,
    {
      kind: "answer",
      isLink: false,
      next: "/servers",
      answer: { provider: "works", state: "s", secret: "own", code: "c", iss: "https://a.example" },
    },
  ],
  ["an answer that another tab asked for", "?code=c&state=s", null, { kind: "elsewhere" }],
  ["no answer at all", "", kept, { kind: "elsewhere" }],
  ["a person who cancelled", "?error=access_denied&state=s", kept, { kind: "cancelled", isLink: false }],
  ["a provider that refused", "?error=server_error&state=s", kept, { kind: "refused", isLink: false }],
  ["a memory that something else wrote", "?code=c&state=s", '{"secret":1}', { kind: "elsewhere" }],
  ["a memory that is no JSON", "?code=c&state=s", "x", { kind: "elsewhere" }],
];
for (const [what, query, text, expected] of cases) {
  test(`the panel knows ${what}`, () =>
    assert.deepEqual(
      readReturn({ pathname: "/login/oidc/works", search: query }, (key) =>
        key === "svc-provider s" ? text : null,
      ),
      expected,
    ));
}
