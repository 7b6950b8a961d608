import assert from "node:assert/strict";
import { test } from "node:test";
import { scrubForwarding } from "./scrub.ts";

const secret = "VoVb0GTlVqZIlDeUrk0qq_I_kMp7oNlqVoVb0GTlVqZ";
const block = (line: string) =>
  `# ours\nproxies:\n  velocity:\n    enabled: true\n${line}\n    online-mode: true\nwatchdog:\n  early-warning-delay: 10000\n`;

const spellings: Record<string, string> = {
  plain: block(`    secret: ${secret}`),
  "in quotes": block(`    secret: "${secret}"`),
  "in single quotes": block(`    'secret' : '${secret}'`),
  "with a key in quotes": block(`    "secret": ${secret}`),
  "in the next line": block(`    secret: >-\n      ${secret}`),
  "with an anchor": block(`    secret: &s ${secret}`),
  "with Windows ends of line": block(`    secret: ${secret}`).replaceAll("\n", "\r\n"),
  "in one line": `proxies: {velocity: {enabled: true, secret: ${secret}, online-mode: true}}\n`,
  "as JSON": JSON.stringify({ proxies: { velocity: { secret, enabled: true } } }),
  "in a comment": block(`    secret: x # before: ${secret}`),
  "a short one that an operator chose": block("    secret: hunter2"),
  "a quoted one with a comma": block('    secret: "hunter2, and more"'),
};
for (const [name, text] of Object.entries(spellings)) {
  test(`the secret is not in what leaves, ${name}`, () => {
    const scrubbed = scrubForwarding(text);
    assert.ok(!scrubbed.includes(secret) && !/hunter2|and more/.test(scrubbed), scrubbed);
    assert.match(scrubbed, /secret['"]?[ \t]*:[ \t]*\w{32}/, "nobody's secret is in its place");
    assert.match(scrubbed, /enabled['"]?: ?true/);
  });
}

test("everything else of the file is as it was", () => {
  const text = block(`    secret: ${secret}`);
  const scrubbed = scrubForwarding(text);
  assert.equal(scrubbed.replace(/secret: \w{32}/, `secret: ${secret}`), text);
  const other = "secretary: me\nunsupported-settings:\n  allow-headless-pistons: false\n";
  assert.equal(scrubForwarding(other), other);
});

test("a file that was written to be slow is read once", () => {
  for (const piece of ["secret:", '"', "'secret'", "{secret", "a", " ", "-", '\\"']) {
    const text = piece.repeat((1 << 20) / piece.length);
    const begun = process.cpuUsage();
    scrubForwarding(text);
    const { user } = process.cpuUsage(begun);
    assert.ok(user < 2_000_000, `${piece}: ${user} µs`);
  }
});
