import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import type { ServerResponse } from "node:http";
import { after, before, beforeEach, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { accounts, identityHealth, oidc } from "@svc/proto";
import { newBrowser, type OidcFixture, startOidcFixture } from "../testing/oidc-fixture.ts";

const anonymous = { kind: "anonymous" } as const;
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const stranger = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const jwk = { ...publicKey.export({ format: "jwk" }), kid: "forged", use: "sig", alg: "RS256" };
const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
let number = 0;

type Token = { claims: Record<string, unknown>; header?: object; key?: typeof privateKey | undefined };
function tokenOf({ claims, header = { alg: "RS256", kid: "forged" }, key = privateKey }: Token): string {
  const content = `${base64(header)}.${base64(claims)}`;
  return `${content}.${sign("sha256", Buffer.from(content), key).toString("base64url")}`;
}
function answer(response: ServerResponse, body: unknown, status = 200): true {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  return true;
}

describe("an OpenID provider", () => {
  let fixture: OidcFixture;
  before(async () => {
    fixture = await startOidcFixture(["identity.oidc_timeout=300ms", "identity.oidc_bytes=32Ki"]);
  });
  after(() => fixture.stop());
  let userId = "";
  const sub = () => `person-${number}`;
  beforeEach(async () => {
    number++;
    fixture.works.interfere = undefined;
    fixture.works.person = { sub: sub() };
    const person = await fixture.person();
    userId = person.userId;
    await fixture.link("works", person);
  });
  /** A sign-in whose token the provider, or whoever stands before it, has made like this. */
  const withToken = async (make: (right: Record<string, unknown>) => string) => {
    const client = newBrowser();
    const begun = await fixture.begin("works", client);
    const returned = await fixture.answerOf(begun);
    const now = Math.floor(Date.now() / 1_000);
    const right = {
      iss: fixture.works.issuer,
      sub: sub(),
      aud: "confidential",
      exp: now + 300,
      iat: now,
      nonce: new URL(begun.url).searchParams.get("nonce"),
    };
    fixture.works.interfere = ({ url }, response) => {
      if (url === "/jwks") return answer(response, { keys: [jwk] });
      if (url !== "/token") return false;
      return answer(response, { access_token: "a", token_type: "Bearer", id_token: make(right) });
    };
    return { answer: returned, client };
  };
  const refused = async (given: Awaited<ReturnType<typeof withToken>>) =>
    (await fixture.refused(oidc.finish, given.answer, { principal: anonymous, client: given.client })).fault;
  /** Forgets the keys: the next answer is verified with those of the moment. */
  const forgetKeys = async () => {
    await refused(await withToken(() => "x"));
    fixture.works.interfere = undefined;
  };

  test("whose own key signs a right token is believed", async () => {
    await forgetKeys();
    const given = await withToken((claims) => tokenOf({ claims }));
    assert.equal((await fixture.finish(given.answer, given.client)).body["user_id"], userId);
    await forgetKeys();
  });

  const forgeries: Record<string, (right: Record<string, unknown>) => string> = {
    "signed with a key that is not the provider's": (claims) => tokenOf({ claims, key: stranger }),
    "of a key that the provider does not have": (claims) =>
      tokenOf({ claims, header: { alg: "RS256", kid: "other" }, key: stranger }),
    "that is not signed": (claims) => `${base64({ alg: "none" })}.${base64(claims)}.`,
    "signed with the public key as a secret": (claims) =>
      tokenOf({ claims, header: { alg: "HS256", kid: "forged" } }),
    "of another issuer": (claims) => tokenOf({ claims: { ...claims, iss: "https://other.example" } }),
    "for another client": (claims) => tokenOf({ claims: { ...claims, aud: "other" } }),
    "for several clients without naming one": (claims) =>
      tokenOf({ claims: { ...claims, aud: ["confidential", "other"] } }),
    "for several clients that names another": (claims) =>
      tokenOf({ claims: { ...claims, aud: ["confidential", "other"], azp: "other" } }),
    "that has expired": (claims) => tokenOf({ claims: { ...claims, exp: Number(claims["iat"]) - 60 } }),
    "that is not valid yet": (claims) => tokenOf({ claims: { ...claims, nbf: Number(claims["iat"]) + 600 } }),
    "without an end": ({ exp: _, ...claims }) => tokenOf({ claims }),
    "with the nonce of another login": (claims) => tokenOf({ claims: { ...claims, nonce: "other" } }),
    "without a nonce": ({ nonce: _, ...claims }) => tokenOf({ claims }),
    "without a subject": ({ sub: _, ...claims }) => tokenOf({ claims }),
    "with an empty subject": (claims) => tokenOf({ claims: { ...claims, sub: "" } }),
    "with a subject that is no text": (claims) => tokenOf({ claims: { ...claims, sub: 7 } }),
    "that is no token": () => "a.b.c",
  };
  for (const [what, make] of Object.entries(forgeries)) {
    test(`is not believed with a token ${what}`, async () => {
      assert.equal(await refused(await withToken(make)), "oidc_answer_invalid");
      const rows = await fixture.database.admin(
        "select 1 from identity.sessions where user_id = $1 and door = 'oidc'",
        [userId],
      );
      assert.deepEqual(rows, []);
    });
  }

  test("that changes its keys refuses at most one sign-in", async () => {
    await fixture.signIn("works");
    fixture.works.rotate();
    await fixture.signIn("works").catch(() => undefined);
    assert.equal((await fixture.signIn("works")).body["user_id"], userId);
  });

  type Answering = Parameters<NonNullable<OidcFixture["works"]["interfere"]>>[1];
  const failures: Record<string, (response: Answering) => true> = {
    "does not answer": () => true,
    "stops in the middle": (response) => {
      response.writeHead(200, { "content-type": "application/json" }).write("{");
      return true;
    },
    "hangs up": (response) => {
      response.destroy();
      return true;
    },
    "answers 500": (response) => answer(response, {}, 500),
    "answers without an end": (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(`{"a":"${"x".repeat(64 * 1024)}"}`);
      return true;
    },
  };
  for (const [what, spoil] of Object.entries(failures)) {
    test(`that ${what} is 503 at the end of a sign-in, and the next one works`, async () => {
      const client = newBrowser();
      const returned = await fixture.answerOf(await fixture.begin("works", client));
      fixture.works.interfere = ({ url }, response) => url === "/token" && spoil(response);
      assert.equal(await refused({ answer: returned, client }), "oidc_unavailable");
      fixture.works.interfere = undefined;
      assert.equal(await refused({ answer: returned, client }), "oidc_login_invalid");
      await fixture.signIn("works");
    });

    test(`that ${what} is 503 at the beginning, while other ways in go on`, async () => {
      await forgetKeys();
      fixture.works.interfere = ({ url }, response) =>
        url?.startsWith("/.well-known/") === true && spoil(response);
      const client = newBrowser();
      const begin = { principal: anonymous, client };
      assert.equal(
        (await fixture.refused(oidc.begin, { provider: "works" }, begin)).fault,
        "oidc_unavailable",
      );
      await fixture.begin("club", client);
      const { session } = await fixture.person();
      const state = await fixture.gateway.call(accounts.resolveSession, { hash: session, is_use: true });
      assert.equal(state.state, "live");
      fixture.works.interfere = undefined;
      await recovered();
    });
  }
  // A failed discovery is remembered for two seconds.
  const recovered = () => until(() => fixture.begin("works", newBrowser()));

  type Metadata = Record<string, unknown>;
  const documents: Record<string, (right: Metadata) => Metadata> = {
    "another issuer": (right) => ({ ...right, issuer: "https://other.example" }),
    "an issuer with a slash more": (right) => ({ ...right, issuer: `${right["issuer"]}/` }),
    "a token endpoint inside the network": (right) => ({ ...right, token_endpoint: "http://10.0.0.1/token" }),
    "keys inside the network": (right) => ({ ...right, jwks_uri: "http://169.254.169.254/latest" }),
    "a script as the address of people": (right) => ({
      ...right,
      authorization_endpoint: "javascript:alert(1)",
    }),
    "no keys": ({ jwks_uri: _, ...right }) => right,
  };
  for (const [what, spoil] of Object.entries(documents)) {
    test(`that describes itself with ${what} is not used`, async () => {
      const response = await fetch(`${fixture.works.issuer}/.well-known/openid-configuration`);
      const right = (await response.json()) as Metadata;
      await forgetKeys();
      fixture.works.interfere = ({ url }, reply) =>
        url?.startsWith("/.well-known/") === true && answer(reply, spoil(right));
      const begin = { principal: anonymous, client: newBrowser() };
      assert.equal(
        (await fixture.refused(oidc.begin, { provider: "works" }, begin)).fault,
        "oidc_unavailable",
      );
      fixture.works.interfere = undefined;
      await recovered();
    });
  }

  test("that redirects is not followed", async () => {
    await forgetKeys();
    fixture.works.interfere = ({ url }, response) => {
      if (!url?.startsWith("/.well-known/")) return false;
      response.writeHead(302, { location: fixture.club.issuer + url }).end();
      return true;
    };
    const asked = fixture.club.asked.length;
    const begin = { principal: anonymous, client: newBrowser() };
    assert.equal((await fixture.refused(oidc.begin, { provider: "works" }, begin)).fault, "oidc_unavailable");
    assert.equal(fixture.club.asked.length, asked);
    fixture.works.interfere = undefined;
    await recovered();
  });

  test("is not asked for the health of identity", async () => {
    const asked = fixture.works.asked.length;
    await fixture.gateway
      .call(identityHealth.readIdentityHealth, {}, { principal: anonymous })
      .catch(() => undefined);
    assert.equal(fixture.works.asked.length, asked);
  });

  test("that is away when identity starts is no reason not to start", async () => {
    fixture.works.interfere = () => true;
    await fixture.addReplica();
    fixture.works.interfere = undefined;
  });
});
