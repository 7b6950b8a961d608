// No regular expression of ours grows faster than what it reads, unless nobody outside can feed it much. An expression that
// is new is looked at as well: steps are counted for texts that are made from the expression itself.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { findGrowth } from "./regex/growth.ts";
import { composing, literals } from "./regex/literals.ts";

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
  "services/panel/src/api/request.ts /\\{([^}]+)\\}/g": "paths of the contracts",
};

/** Files that put expressions together, which the finder does not see, and why those are linear. */
const composed: Record<string, string> = {
  "libs/local-cluster/src/apiserver/schema/structural.ts":
    "patterns of resource definitions, which operators install",
  "libs/local-stack/src/program/bundle.ts": "a name between word boundaries, in code that we bundled",
  "libs/registry/src/reference.ts": "fed the worst in worst-input.test.ts",
  "libs/sealed/src/body.ts": "digits of a fixed number",
  "libs/world/src/path/scrub.ts": "fed the worst in scrub.test.ts",
  "proto/src/builds/pack.ts": "digits of a fixed number",
  "services/builds/src/config.ts": "a setting",
  "services/builds/src/pack/source.ts": "digits of a fixed number",
  "services/cli/src/server/history.ts": "a name at the end of a subject",
  "services/demo-server/src/console/log.ts": "begins at an escape only, and no other may follow within",
  "services/ops-watchdog/src/watchdog/probe/machine.ts": "a file of the kernel",
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

test("every file that puts expressions together is listed with the reason why they are linear", () =>
  assert.deepEqual(composing(), Object.keys(composed).sort()));
