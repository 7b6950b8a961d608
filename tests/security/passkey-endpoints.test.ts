// Passkey sign-in over HTTP, as browsers and others send it, against a real identity and its database.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createFace, createSessions } from "@svc/http-gateway";
import { operations, processOperations } from "@svc/proto";
import { createLogger, createRegistry } from "@svc/telemetry";
import {
  createAuthenticator,
  type RequestOptions,
} from "../../services/identity/src/testing/authenticator.ts";
import { type Fixture, startFixture } from "../../services/identity/src/testing/fixture.ts";
import { createPasskeyPeople, panel } from "../../services/identity/src/testing/passkeys.ts";
import { type RawRequest, type RawResponse, sendRequest } from "./raw-request.ts";

const endpoints = "/api/v1/auth/passkey/login";
const json = { "content-type": "application/json" };

describe("passkey sign-in over HTTP", () => {
  let fixture: Fixture;
  let port: number;
  let close: () => Promise<void>;
  before(async () => {
    fixture = await startFixture();
    const sessions = createSessions(fixture.gateway, { cacheMs: 0, size: 100 });
    const face = createFace({
      ...{ face: "external", operations, processOperations, sessions },
      ...{ mesh: fixture.gateway, log: createLogger("gateway-external", "silent") },
      registry: createRegistry("face", "1"),
      settings: {
        ...{ adminHostname: "op.console.svc.localhost", drainMs: 500, clientIpHeader: "x-client-address" },
      },
    });
    ({ port } = await face.listen({ host: "127.0.0.1", port: 0 }));
    close = async () => {
      await face.close();
      sessions.close();
    };
  });
  after(async () => {
    await close?.();
    await fixture?.stop();
  });
  const people = createPasskeyPeople(() => fixture);

  let number = 0;
  /** Each request comes from a network of its own. */
  const post = ({ headers, path, ...rest }: RawRequest): Promise<RawResponse> => {
    const visitor = { host: panel.rpId, "x-client-address": `10.1.${++number >> 8}.${number & 255}` };
    return sendRequest(port, { method: "POST", path, headers: { ...visitor, ...headers }, ...rest });
  };
  const codeOf = ({ text }: RawResponse) => (JSON.parse(text) as { error: { code: string } }).error.code;
  const nested = (levels: number) =>
    `{"login_id":"x","assertion":{"a":${"[".repeat(levels)}${"]".repeat(levels)}}}`;

  test("a complete sign-in returns the account and a cookie for this host only", async () => {
    const who = await people.holder({ role: "owner" });
    const begun = await post({ path: `${endpoints}/discoverable/begin`, headers: json });
    const { publicKey, login_id } = JSON.parse(begun.text) as { publicKey: RequestOptions; login_id: string };
    const assertion = who.device.assert(publicKey);
    const ended = await post({ path: `${endpoints}/discoverable/finish`, json: { login_id, assertion } });
    assert.deepEqual(JSON.parse(ended.text), { user_id: who.userId, role: "owner" });
    const cookie = String(ended.headers["set-cookie"]);
    assert.match(cookie, /^svc_session=[A-Za-z0-9_-]{43}; .*HttpOnly.*Secure.*SameSite=Lax/);
    assert.doesNotMatch(cookie, /Domain/i);
    const me = await sendRequest(port, {
      path: "/api/v1/me",
      headers: { host: panel.rpId, cookie: cookie.split(";")[0] ?? "" },
    });
    assert.equal(me.status, 200, me.text);
  });

  test("a refused assertion sets no cookie", async () => {
    const device = createAuthenticator({ origin: panel.origin });
    const begun = await post({ path: `${endpoints}/discoverable/begin`, headers: json });
    const { publicKey, login_id } = JSON.parse(begun.text) as { publicKey: RequestOptions; login_id: string };
    const assertion = device.assert(publicKey, { userHandle: "AAAA" });
    const ended = await post({ path: `${endpoints}/discoverable/finish`, json: { login_id, assertion } });
    assert.deepEqual([ended.status, codeOf(ended)], [400, "passkey_login_invalid"]);
    assert.equal(ended.headers["set-cookie"], undefined);
  });

  test("every operation requires JSON, also the one without a body", async () => {
    for (const path of ["/begin", "/finish", "/discoverable/begin", "/discoverable/finish"]) {
      const reply = await post({ path: `${endpoints}${path}`, text: "", headers: {} });
      assert.deepEqual([reply.status, codeOf(reply)], [415, "unsupported_media_type"], path);
    }
  });

  const bad: [what: string, path: string, text: string][] = [
    ["no address", "/begin", "{}"],
    ["a malformed address", "/begin", '{"email":"nobody"}'],
    ["an unknown field", "/begin", '{"email":"a@example.org","role":"owner"}'],
    ["no assertion", "/finish", '{"email":"a@example.org"}'],
    ["an assertion that is a text", "/finish", '{"email":"a@example.org","assertion":"x"}'],
    ["an assertion that is a list", "/finish", '{"email":"a@example.org","assertion":[]}'],
    ["an assertion that is null", "/finish", '{"email":"a@example.org","assertion":null}'],
    ["no handle", "/discoverable/finish", '{"assertion":{}}'],
    ["an endless handle", "/discoverable/finish", `{"login_id":"${"x".repeat(65)}","assertion":{}}`],
    ["nesting of 100 levels", "/discoverable/finish", nested(100)],
    ["nesting of 100,000 levels", "/discoverable/finish", nested(100_000)],
    ["a key __proto__", "/finish", '{"email":"a@example.org","assertion":{"__proto__":{}}}'],
  ];
  for (const [what, path, text] of bad) {
    test(`${what} is 400`, async () => {
      const reply = await post({ path: `${endpoints}${path}`, headers: json, text });
      assert.deepEqual([reply.status, codeOf(reply)], [400, "bad_request"], reply.text);
    });
  }

  test("a body over 1 MiB is 413, and the largest one that fits is refused like any other wrong answer", async () => {
    const answer = (size: number) => ({ login_id: "x", assertion: { id: "A".repeat(size) } });
    const path = `${endpoints}/discoverable/finish`;
    assert.equal((await post({ path, json: answer(1_100_000) })).status, 413);
    assert.equal(codeOf(await post({ path, json: answer(500_000) })), "passkey_login_invalid");
  });

  test("the 33rd open ceremony of one address is 429", async () => {
    const headers = { ...json, "x-client-address": "192.0.2.77" };
    // The budget of sign-ins is smaller than the cap, and fills up with the time.
    for (let open = 0; open < 32; open++) {
      fixture.pass(4_000);
      assert.equal((await post({ path: `${endpoints}/discoverable/begin`, headers })).status, 200, `${open}`);
    }
    fixture.pass(4_000);
    const reply = await post({ path: `${endpoints}/discoverable/begin`, headers });
    assert.deepEqual([reply.status, codeOf(reply)], [429, "too_many_challenges"]);
  });
});
