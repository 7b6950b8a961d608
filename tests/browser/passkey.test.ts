// Passkeys in a real browser against a running stack. SVC_BROWSER_LANE names the browser, such as /usr/bin/chromium.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { newestCode, type Stack, startStack, withoutGame } from "../flow/stack.ts";
import { type Authenticator, type Chromium, type Page, startChromium } from "./chromium.ts";

const binary = process.env["SVC_BROWSER_LANE"];

type Reply = { status: number; body: Record<string, unknown> };

// How a panel would do it: the browser's own JSON forms of what WebAuthn takes and gives.
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
  send: "return send(...argument);",
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

describe("passkeys in Chromium", () => {
  if (!binary || !existsSync(binary)) {
    const why = binary ? `there is no ${binary}` : "SVC_BROWSER_LANE is not set";
    test("skipped: set SVC_BROWSER_LANE to the browser, such as /usr/bin/chromium", (t) => t.skip(why));
    return;
  }
  let stack: Stack;
  let chromium: Chromium;
  let page: Page;
  let authenticator: Authenticator;
  before(async () => {
    chromium = await startChromium(binary);
    stack = await startStack(withoutGame);
    page = await chromium.newPage();
    authenticator = await page.plugIn();
    await page.open(originOf("panel_host"));
  });
  after(async () => {
    await chromium?.stop();
    await stack?.stop();
  });

  const originOf = (host: "panel_host" | "admin_host") => {
    const file = stack.file();
    return `http://${file[host]}:${new URL(file.external_base_url).port}`;
  };
  const take = (step: keyof typeof steps, argument?: unknown) =>
    page.run<Reply>(`${call}${steps[step]}`, argument);
  const send = (method: string, path: string, body?: unknown) => take("send", [method, path, body]);
  const userId = async () => (await send("GET", "/me")).body["user_id"];
  const signOut = async () => {
    await send("POST", "/auth/logout");
    assert.equal((await send("GET", "/me")).status, 401);
  };
  const player = randomUUID();
  /** Signs in with a code from the game, which proves nothing. */
  const bind = async () => {
    const minted = await stack.internal("POST", "/api/v1/internal/account/link/code", { mc_uuid: player });
    const bound = await send("POST", "/auth/bind", { code: (minted.body as { code: string }).code });
    assert.equal(bound.status, 200, JSON.stringify(bound.body));
  };
  const email = "player@example.net";
  let me: unknown;

  test("a player who came from the game binds a passkey", async () => {
    await bind();
    me = await userId();
    const made = await take("register", "my phone");
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.equal(made.body["name"], "my phone");
    const [kept] = await authenticator.credentials();
    const handle = Buffer.from(kept?.userHandle ?? "", "base64").toString();
    assert.equal(handle, me);
    const listed = await send("GET", "/account/passkey/credentials");
    assert.deepEqual(listed.body["credentials"], [made.body]);
  });

  test("the browser does not bind a second one on the same device", async () => {
    await assert.rejects(take("register", "again"), /InvalidStateError/);
  });

  test("binding counts as a proof, so an address can be verified at once", async () => {
    const started = await send("POST", "/account/email/start", { email });
    assert.equal(started.status, 202, JSON.stringify(started.body));
    const code = await until(() => newestCode(stack.file().mail.dir), 10_000, "the mailed code");
    assert.equal((await send("POST", "/account/email/verify", { code })).status, 200);
    assert.deepEqual((await send("POST", "/auth/options", { email })).body, {
      methods: ["passkey", "email_otp"],
    });
  });

  test("the passkey signs in by the address", async () => {
    await signOut();
    const signedIn = await take("login", email);
    assert.deepEqual([signedIn.status, signedIn.body], [200, { user_id: me, role: "user" }]);
    assert.equal(await userId(), me);
  });

  test("the passkey signs in without an address", async () => {
    await signOut();
    const signedIn = await take("discoverable");
    assert.deepEqual([signedIn.status, signedIn.body], [200, { user_id: me, role: "user" }]);
    assert.equal(await userId(), me);
  });

  test("a person whom the device does not recognise cannot sign in", async () => {
    await signOut();
    await authenticator.setVerifies(false);
    await assert.rejects(take("login", email), /NotAllowedError/);
    await assert.rejects(take("discoverable"), /NotAllowedError/);
    await authenticator.setVerifies(true);
    assert.equal((await send("GET", "/me")).status, 401);
  });

  test("a session from the game needs a proof, which the passkey gives", async () => {
    await bind();
    const status = await send("GET", "/account/reauth");
    assert.deepEqual(status.body, { needed: true, factors: ["passkey", "email"] });
    const refused = await take("register", "not yet");
    assert.deepEqual([refused.status, refused.body["code"] ?? errorOf(refused)], [403, "reauth_required"]);
    const proved = await take("reauth");
    assert.equal(proved.status, 200, JSON.stringify(proved.body));
    const after = await send("GET", "/account/reauth");
    assert.deepEqual([after.body["needed"], after.body["until"]], [false, proved.body["until"]]);
  });

  test("a passkey that was removed signs nobody in", async () => {
    const listed = await send("GET", "/account/passkey/credentials");
    const [credential] = listed.body["credentials"] as { id: string; last_used_at?: string }[];
    assert.ok(credential?.last_used_at, "its uses are noted");
    const removed = await send("DELETE", `/account/passkey/credentials/${credential.id}`);
    assert.equal(removed.status, 204, JSON.stringify(removed.body));
    await signOut();
    const gone = await take("login", email);
    assert.deepEqual([gone.status, errorOf(gone)], [400, "no_passkey"]);
    const refused = await take("discoverable");
    assert.deepEqual([refused.status, errorOf(refused)], [400, "passkey_login_invalid"]);
    assert.equal((await send("GET", "/me")).status, 401);
  });

  test("one passkey serves the operator console and the panel", async () => {
    page = await chromium.newPage();
    authenticator = await page.plugIn();
    await page.open(originOf("admin_host"));
    const token = new URL(stack.file().setup_url).searchParams.get("token");
    const redeemed = await send("POST", "/auth/setup/redeem", { token });
    assert.equal(redeemed.body["setup_required"], true, JSON.stringify(redeemed.body));
    assert.equal((await take("register", "the owner's key")).status, 201);
    const setup = await send("GET", "/auth/setup/status");
    assert.deepEqual([setup.body["has_passkey"], setup.body["setup_required"]], [true, false]);
    for (const host of ["admin_host", "panel_host"] as const) {
      await page.open(originOf(host));
      const signedIn = await take("discoverable");
      assert.equal(signedIn.body["role"], "owner", JSON.stringify(signedIn.body));
      const own = await send("GET", "/me");
      assert.equal(own.body["is_owner"], host === "admin_host");
    }
  });

  function errorOf({ body }: Reply): unknown {
    return (body["error"] as { code?: string } | undefined)?.code;
  }
});
