// Passkeys as the API has them: the browser's own JSON forms of what WebAuthn takes and gives, without the panel's code.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { newestCode } from "../flow/stack.ts";
import { type Area, bindPlayer } from "./fixture.ts";
import { createPerson, type Person, type Reply } from "./person.ts";

const call = `
  const send = async (method, path, body) => {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const answer = await fetch("/api/v1" + path, { method, headers, body: body && JSON.stringify(body) });
    const text = await answer.text();
    return { status: answer.status, body: text === "" ? {} : JSON.parse(text) };
  };
  const create = async (options) => {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    return (await navigator.credentials.create({ publicKey })).toJSON();
  };
  const get = async (options) => {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
    return (await navigator.credentials.get({ publicKey })).toJSON();
  };`;

const steps = {
  register: `
    const begun = await send("POST", "/account/passkey/register/begin");
    if (begun.status !== 200) return begun;
    const attestation = await create(begun.body);
    return send("POST", "/account/passkey/register/finish", { attestation, name: argument });`,
  login: `
    const begun = await send("POST", "/auth/passkey/login/begin", { email: argument });
    if (begun.status !== 200) return begun;
    const assertion = await get(begun.body);
    return send("POST", "/auth/passkey/login/finish", { email: argument, assertion });`,
  discoverable: `
    const begun = await send("POST", "/auth/passkey/login/discoverable/begin", {});
    if (begun.status !== 200) return begun;
    const { login_id, publicKey } = begun.body;
    return send("POST", "/auth/passkey/login/discoverable/finish", { login_id, assertion: await get(publicKey) });`,
  reauth: `
    const begun = await send("POST", "/account/reauth/passkey/begin");
    if (begun.status !== 200) return begun;
    const assertion = await get(begun.body.publicKey);
    return send("POST", "/account/reauth/passkey/finish", { assertion });`,
} as const;

/** Takes the steps of a ceremony in the page. */
async function take({ session }: Person, step: keyof typeof steps, argument: unknown = null): Promise<Reply> {
  const answer = await session.send("Runtime.evaluate", {
    expression: `(async (argument) => { ${call}${steps[step]} })(${JSON.stringify(argument)})`,
    awaitPromise: true,
    returnByValue: true,
    userGesture: true,
  });
  const thrown = answer.exceptionDetails;
  if (thrown) throw new Error(thrown.exception?.description ?? "the page threw");
  return answer.result.value as Reply;
}

const errorOf = ({ body }: Reply) => (body["error"] as { code?: string } | undefined)?.code;

export const addPasskeyTests: Area = (fixture) => {
  const mcUuid = randomUUID();
  const email = "passkey@example.net";
  let person: Person;
  let me: unknown;
  const userId = async () => (await person.request("GET", "/me")).body["user_id"];
  const signOut = async () => {
    await person.request("POST", "/auth/logout");
    assert.equal((await person.request("GET", "/me")).status, 401);
  };

  test("a player who came from the game binds a passkey", async () => {
    const { browser, addressOf } = fixture();
    person = await createPerson(browser);
    await person.open(addressOf("panel_host", "/login"));
    await bindPlayer(fixture(), person, mcUuid);
    me = await userId();
    const made = await take(person, "register", "my phone");
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.equal(made.body["name"], "my phone");
    const [kept] = await person.authenticator.credentials();
    const handle = Buffer.from(kept?.userHandle ?? "", "base64").toString();
    assert.equal(handle, me);
    const listed = await person.request("GET", "/account/passkey/credentials");
    assert.deepEqual(listed.body["credentials"], [made.body]);
  });

  test("the browser does not bind a second one on the same device", async () => {
    await assert.rejects(take(person, "register", "again"), /InvalidStateError/);
  });

  test("binding counts as a proof, so an address can be verified at once", async () => {
    const { mail } = fixture().stack.file();
    const before = newestCode(mail.dir);
    const started = await person.request("POST", "/account/email/start", { email });
    assert.equal(started.status, 202, JSON.stringify(started.body));
    const mailed = () => {
      const newest = newestCode(mail.dir);
      return newest === before ? undefined : newest;
    };
    const code = await until(mailed, 20_000, "the mailed code");
    assert.equal((await person.request("POST", "/account/email/verify", { code })).status, 200);
    const options = await person.request("POST", "/auth/options", { email });
    assert.deepEqual(options.body, { methods: ["passkey", "email_otp"] });
  });

  test("the passkey signs in by the address, and without one", async () => {
    for (const [step, argument] of [
      ["login", email],
      ["discoverable", null],
    ] as const) {
      await signOut();
      const signedIn = await take(person, step, argument);
      assert.deepEqual([signedIn.status, signedIn.body], [200, { user_id: me, role: "user" }]);
      assert.equal(await userId(), me);
    }
  });

  test("a person whom the device does not recognise cannot sign in", async () => {
    await signOut();
    await person.authenticator.setVerifies(false);
    await assert.rejects(take(person, "login", email), /NotAllowedError/);
    await assert.rejects(take(person, "discoverable"), /NotAllowedError/);
    await person.authenticator.setVerifies(true);
    assert.equal((await person.request("GET", "/me")).status, 401);
  });

  test("a session from the game needs a proof, which the passkey gives", async () => {
    await bindPlayer(fixture(), person, mcUuid);
    const status = await person.request("GET", "/account/reauth");
    assert.deepEqual(status.body, { needed: true, factors: ["passkey", "email"] });
    const refused = await take(person, "register", "not yet");
    assert.deepEqual([refused.status, errorOf(refused)], [403, "reauth_required"]);
    const proved = await take(person, "reauth");
    assert.equal(proved.status, 200, JSON.stringify(proved.body));
    const after = await person.request("GET", "/account/reauth");
    assert.deepEqual([after.body["needed"], after.body["until"]], [false, proved.body["until"]]);
  });

  test("a passkey that was removed signs nobody in", async () => {
    const listed = await person.request("GET", "/account/passkey/credentials");
    const [credential] = listed.body["credentials"] as { id: string; last_used_at?: string }[];
    assert.ok(credential?.last_used_at, "its uses are noted");
    const removed = await person.request("DELETE", `/account/passkey/credentials/${credential.id}`);
    assert.equal(removed.status, 204, JSON.stringify(removed.body));
    await signOut();
    const gone = await take(person, "login", email);
    assert.deepEqual([gone.status, errorOf(gone)], [400, "no_passkey"]);
    const refused = await take(person, "discoverable");
    assert.deepEqual([refused.status, errorOf(refused)], [400, "passkey_login_invalid"]);
    assert.equal((await person.request("GET", "/me")).status, 401);
    await person.leave();
  });

  test("one passkey serves the operator console and the panel, which is no way to staff rights", async () => {
    const { owner, addressOf } = fixture();
    for (const host of ["panel_host", "admin_host"] as const) {
      await owner.open(addressOf(host, "/login"));
      const signedIn = await take(owner, "discoverable");
      assert.equal(signedIn.body["role"], "owner", JSON.stringify(signedIn.body));
      const own = await owner.request("GET", "/me");
      assert.equal(own.body["is_owner"], host === "admin_host");
    }
  });
};
