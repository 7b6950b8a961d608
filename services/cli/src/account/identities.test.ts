import assert from "node:assert/strict";
import { test } from "node:test";
import { identitiesText, identityNamed, type Linked } from "./identities.ts";

const provider = { id: "works", name: { en: "Works", zh: "公司" } };
const at = "2026-11-28T16:00:00.000Z";
const works: Linked = {
  ...{ id: "ext-1", provider, issuer: "https://works.example.net", label: "ada", created_at: at },
  last_used_at: at,
};
const former: Linked = { id: "ext-2", issuer: "https://old.example.net", label: "", created_at: at };
const page = "http://console.svc.localhost/account";

test("identities are listed with what they are good for, and providers that are not linked", () => {
  const school = { id: "school", name: { en: "School", zh: "学校" } };
  assert.equal(
    identitiesText({ identities: [works, former], providers: [provider, school], page }),
    `ID     PROVIDER                 LABEL  STATE                                        SINCE       LAST USED
ext-1  Works                    ada    linked                                       2026-11-28  2026-11-28T16:00:00
ext-2  https://old.example.net  -      no way in: its provider is no longer set up  2026-11-28  never
-      School                   -      not linked                                   -           -
Link one in a browser: ${page}`,
  );
  assert.match(identitiesText({ identities: [], providers: [], page }), /no OpenID providers/);
});

test("an identity is named by its id, or by its provider where only one is", () => {
  const again = { ...works, id: "ext-3" };
  assert.equal(identityNamed([works, former], "works").id, "ext-1");
  assert.equal(identityNamed([works, again], "ext-3").id, "ext-3");
  assert.throws(() => identityNamed([works, again], "works"), /2 identities are at works; give the id/);
  assert.throws(() => identityNamed([works], "ext-9"), /no identity ext-9; list them/);
});
