import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ConfigError, loadSettings } from "@svc/config";
import { settings } from "./config.ts";
import { isSafeAddress, type OidcProvider, readClientSecret } from "./oidc-provider.ts";

const dir = mkdtempSync(join(tmpdir(), "svc-providers-"));
after(() => rmSync(dir, { recursive: true }));
const load = (text: string) => {
  const file = join(dir, "svc.toml");
  writeFileSync(file, text);
  return loadSettings(settings, { file }).identity.oidc_provider;
};
const table = (about: string) => `[[identity.oidc_provider]]\n${about}\n`;
const works = [
  'id = "works"',
  'issuer = "https://sso.example.org/realms/main"',
  'client_id = "svc"',
  'client_secret_ref = "SVC_OIDC_WORKS"',
  'name_en = "Works"',
].join("\n");
const world = '[server]\nroot_domain = "play.example.org"\n';

test("a provider needs little, and lets nobody sign up and no staff in by itself", () => {
  const [provider] = load(world + table(works));
  assert.deepEqual(provider, {
    id: "works",
    issuer: "https://sso.example.org/realms/main",
    client_id: "svc",
    client_secret_file: "",
    client_secret_ref: "SVC_OIDC_WORKS",
    client_auth: "basic",
    name_en: "Works",
    name_zh: "",
    scopes: ["openid", "profile", "email"],
    allow_sign_up: false,
    sign_up_domains: [],
    roles: [],
    staff_amr: [],
    staff_acr: [],
  });
  assert.deepEqual(load(world), []);
});

const role = 'roles = [{ claim = "groups", value = "staff", role = "admin" }]';
const refused: Record<string, string> = {
  "without TLS": table(works.replace("https:", "http:")),
  "on this machine without TLS, where others reach the installation": table(
    works.replace("https://sso.example.org", "http://127.0.0.1:9000"),
  ),
  "with a password in its address": table(works.replace("https://", "https://me:secret@")),
  "with a query in its issuer": table(works.replace("/main", "/main?a=1")),
  "that is no address": table(works.replace("https://", "")),
  "with a name that does not fit into an address": table(works.replace('"works"', '"Works/1"')),
  "without a secret": table(works.replace('client_secret_ref = "SVC_OIDC_WORKS"', "")),
  "that is public and has a secret": table(`${works}\nclient_auth = "none"`),
  "with roles and no second factor": table(`${works}\n${role}`),
  "with a rule that makes an owner": table(
    `${works}\nstaff_amr = ["mfa"]\n${role.replace('"admin"', '"owner"')}`,
  ),
  "with a domain that is none": table(`${works}\nsign_up_domains = ["@example.org"]`),
  "with an unknown key": table(`${works}\nuserinfo = true`),
  twice: table(works) + table(works.replace("/main", "/other")),
  "of an issuer that another one has": table(works) + table(works.replace('"works"', '"other"')),
};
for (const [what, text] of Object.entries(refused)) {
  test(`a provider ${what} stops the start`, () => assert.throws(() => load(world + text), ConfigError));
}

test("on a local stack a provider of this machine needs no TLS", () => {
  const local = works.replace("https://sso.example.org", "http://127.0.0.1:9000");
  assert.equal(load(table(local))[0]?.id, "works");
  assert.throws(() => load(table(works.replace("https://sso", "http://sso"))), ConfigError);
});

const addresses: [address: string, isLocal: boolean, isSafe: boolean][] = [
  ["https://sso.example.org/token", false, true],
  ["http://sso.example.org/token", false, false],
  ["http://127.0.0.1:9000/token", false, false],
  ["http://127.0.0.1:9000/token", true, true],
  ["http://sso.localhost:9000/token", true, true],
  ["http://[::1]:9000/token", true, true],
  ["http://localhost.example.org/token", true, false],
  ["http://127.0.0.1.example.org/token", true, false],
  ["http://10.0.0.1/token", true, false],
  ["https://me:secret@sso.example.org/token", false, false],
  ["javascript:alert(1)", true, false],
  ["file:///etc/passwd", true, false],
  ["/token", true, false],
];
for (const [address, isLocal, isSafe] of addresses) {
  const where = isLocal ? "locally" : "elsewhere";
  test(`${address} is ${isSafe ? "" : "not "}asked ${where}`, () =>
    assert.equal(isSafeAddress(address, { isLocal }), isSafe));
}

test("a secret comes from its file, else from its variable, and an empty one stops the start", () => {
  const [provider] = load(world + table(works));
  const given = provider as OidcProvider;
  assert.equal(readClientSecret(given, { SVC_OIDC_WORKS: " secret\n" }), "secret");
  assert.throws(() => readClientSecret(given, {}), /oidc_provider works: the client secret is empty/);
  const file = join(dir, "secret");
  writeFileSync(file, "of the file\n");
  assert.equal(readClientSecret({ ...given, client_secret_file: file }, {}), "of the file");
  assert.equal(readClientSecret({ ...given, client_auth: "none" }, {}), undefined);
});
