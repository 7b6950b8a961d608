// No regular expression of ours grows faster than what it reads, unless nobody outside can feed it much. An expression that
// is new is looked at as well: steps are counted for texts that are made from the expression itself.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { findGrowth } from "./regex/growth.ts";
import { literals } from "./regex/literals.ts";

/** Those that do grow faster, and why they may: their text is our own, or short before they see it. */
const allowed: Record<string, string> = {
  "libs/client/src/client.ts /\\{([^}]+)\\}/g": "paths of the contracts",
  "libs/http-gateway/src/route-paths.ts /\\{([^}]+)\\}/g": "paths of the contracts",
  "libs/config/src/values.ts /(\\d+(\\.\\d+)?)(ms|mo|s|m|h|d)/g":
    "settings, whose whole shape is checked before",
  "libs/local-cluster/src/node/mounts.ts /(.)\\/+$/": "mount paths that lifecycle writes",
  "libs/local-stack/src/fetch/routes.ts /\\/*$/": "a setting",
  "libs/minecraft/src/login/session-server.ts /\\/+$/": "a setting",
  "libs/object-store/src/connection.ts /\\/+$/": "a setting",
  "services/identity/src/session/policy.ts /\\ufffd+$/": "256 bytes of a user agent",
  "services/identity/src/sign-in/password-hash.ts /=+$/": "base64 that we wrote",
  "libs/config/src/variables.ts /\\/+$/": "a setting",
  "services/storage/src/internal-url.ts /\\/+$/": "a setting",
  "libs/local-stack/src/program/bundle.ts /(\\\\*)([\\u0080-\\uffff])/g": "code that we bundled",
  'services/panel/src/api/build-script.ts /<script[^>]+src="([^"]+)"/': "the panel's own document",
  "services/panel/src/api/request.ts /\\{([^}]+)\\}/g": "paths of the contracts",
};

describe("the finder", () => {
  const bad = {
    "a search that begins anew": /\[[^\]]*\]/g,
    "spaces at the end": /\s+$/,
    "a loop in a loop": /^(a+)+$/,
    "two runs of the same": /^\w*\d*x$/,
    "the LuckPerms entry that was": /^>\s*(\S+)((?:\s*\([^()]*\))*)\s*$/,
    "the whitelist that was": /^[^:]*\bwhitelisted player[^:]*:([\s\S]*)$/i,
  };
  for (const [what, expression] of Object.entries(bad))
    test(`finds ${what}`, () => assert.ok(findGrowth(expression), `nothing was found for ${expression}`));
  for (const expression of [/^[a-z]+$/, /^(?:a|b)+c/, /a{1,64}b/g, /^\s*(\S+)\s*=\s*(\S*)$/, /§[0-9a-f]/gi])
    test(`finds nothing in ${expression}`, () => assert.equal(findGrowth(expression), undefined));
});

test("every expression in the sources is linear in its input, or reads no outside input", () => {
  const all = literals();
  assert.ok(all.length > 300, `only ${all.length} expressions were found`);
  const found = new Map<string, ReturnType<typeof findGrowth>>();
  const growing = all.filter(({ text, expression }) => {
    if (!found.has(text)) found.set(text, findGrowth(expression));
    return found.get(text) !== undefined;
  });
  const names = new Set(growing.map(({ file, text }) => `${file} ${text}`));
  for (const name of names)
    assert.ok(
      name in allowed,
      `${name} takes long over ${JSON.stringify(found.get(name.slice(name.indexOf(" ") + 1))?.text.slice(0, 60))}`,
    );
  const unused = Object.keys(allowed).filter((name) => !names.has(name));
  assert.deepEqual(unused, [], "these are allowed for nothing");
});
