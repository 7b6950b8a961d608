import assert from "node:assert/strict";
import { test } from "node:test";
import { codeUses, mails } from "../../services/identity/src/mail/templates.ts";
import { texts as lobby } from "../../services/lobby/src/texts.ts";
import { texts as gate } from "../../services/login-gate/src/linking/texts.ts";
import { sentences as webhooks } from "../../services/ops-watchdog/src/webhook/message.ts";
import { sentences as proxy } from "../../services/proxy/src/text/text.ts";

const catalogues = { proxy, gate, lobby, mails, codeUses, webhooks };
const han = /\p{Script=Han}/u;
const valuesOf = (text: string) => new Set([...text.matchAll(/\{\w+\}/g)].map(([value]) => value));

/** Every sentence in a catalogue, with its path. */
function sentencesIn(value: unknown, path: string): [path: string, en: string, zh: string][] {
  if (typeof value !== "object" || value === null || "strong" in value) return [];
  const { en, zh } = value as Record<string, unknown>;
  if (typeof en === "string") return [[path, en, String(zh)]];
  return Object.entries(value).flatMap(([key, inner]) => sentencesIn(inner, `${path}.${key}`));
}

for (const [name, catalogue] of Object.entries(catalogues)) {
  test(`${name}: each sentence is in both languages, with the same values`, () => {
    const sentences = sentencesIn(catalogue, name);
    assert.ok(sentences.length > 4);
    for (const [path, en, zh] of sentences) {
      assert.deepEqual(valuesOf(zh), valuesOf(en), path);
      assert.doesNotMatch(en, han, path);
      // A sentence that is nothing but values reads the same.
      if (en.replaceAll(/\{\w+\}/g, "") !== "") assert.match(zh, han, path);
    }
  });
}
