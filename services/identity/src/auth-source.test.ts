import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ConfigError, loadSettings } from "@svc/config";
import { settings } from "./config.ts";

const dir = mkdtempSync(join(tmpdir(), "svc-sources-"));
after(() => rmSync(dir, { recursive: true }));
const load = (text: string) => {
  const file = join(dir, "svc.toml");
  writeFileSync(file, text);
  return loadSettings(settings, { file }).auth_source;
};
const source = (about: string) => `[[auth_source]]\n${about}\n`;
const ely = 'tag = "ely"\nprefix = "EL"\nurl = "https://auth.example.org/session/hasJoined"';
const world = '[server]\nroot_domain = "play.example.org"\n';

test("sources are queried in the order of the file", () => {
  const other = 'tag = "other"\nprefix = "OT"\nurl = "http://10.0.0.1:8080/hasJoined?api=1"';
  const tags = load(world + source(ely) + source(other)).map(({ tag }) => tag);
  assert.deepEqual(tags, ["ely", "other"]);
  assert.deepEqual(load(world), []);
});

const refused: Record<string, string> = {
  "a tag with a colon": ely.replace("ely", "e:y"),
  "a tag with a trailing space": ely.replace('"ely"', '"ely "'),
  "an empty tag": ely.replace('"ely"', '""'),
  "the tag of the identity source": ely.replace("ely", "Mojang"),
  "a prefix of five letters": ely.replace('"EL"', '"ABCDE"'),
  "a prefix with an underscore": ely.replace('"EL"', '"E_"'),
  "no prefix": ely.replace('prefix = "EL"\n', ""),
  "no url": ely.split("\nurl")[0] ?? "",
  "a url without a scheme": ely.replace("https://", ""),
  "a url with another scheme": ely.replace("https://", "file://"),
  "a url with a password": ely.replace("https://", "https://me:secret@"),
  "an unknown key": `${ely}\ntrusted = true`,
  "a local source on a machine that others can reach": 'kind = "local"\ntag = "local"',
};
for (const [what, text] of Object.entries(refused))
  test(`${what} is rejected`, () => assert.throws(() => load(world + source(text)), ConfigError));

test("tags and prefixes are unique regardless of case", () => {
  const twin = (tag: string, prefix: string) =>
    source(ely.replace("ely", tag).replace('"EL"', `"${prefix}"`));
  assert.throws(() => load(world + source(ely) + twin("ELY", "OT")), /tag: is a duplicate/);
  assert.throws(() => load(world + source(ely) + twin("other", "el")), /prefix: is a duplicate/);
});

test("only the local profile may accept every name or have no session server", () => {
  const local = source('kind = "local"\ntag = "local"');
  assert.equal(load(`[server]\nroot_domain = "svc.localhost"\n${local}`)[0]?.kind, "local");
  assert.throws(() => load(`[server]\nroot_domain = "svc.localhost.example.org"\n${local}`), /local profile/);
  const mute = (domain: string) =>
    load(`[server]\nroot_domain = "${domain}"\n[identity]\nmojang_session_url = ""\n`);
  assert.deepEqual(mute("svc.localhost"), []);
  assert.throws(() => mute("play.example.org"), /local profile/);
});
