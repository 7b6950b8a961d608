import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { accounts, eventSubject, isFault, type Principal, type Right, rights } from "@svc/proto";
import { mintApiToken } from "@svc/proto/api-token";
import { admin, app, inSetup, open } from "../testing/contracts.ts";
import { type GatewayFixture, type RunningFace, startGatewayFixture } from "../testing/gateway-fixture.ts";
import { send } from "../testing/raw-request.ts";
import {
  tokenAct,
  tokenDownload,
  tokenOwn,
  tokenPlaceless,
  tokenSee,
  tokenWatch,
} from "../testing/token-contracts.ts";
import { checkServer, checkToken, type LiveToken, presentedToken, tokenPrincipal } from "./api-token.ts";
import { createMinuteBudget } from "./minute-budget.ts";

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");
const grantOf = (more: Partial<LiveToken["grant"]> = {}) => ({ id: "tok", rights: [...rights], ...more });
const liveToken = (more: Partial<LiveToken["grant"]> = {}): LiveToken => ({
  state: "live",
  ...{ user_id: "usr-1", username: "ada", setup: false },
  expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  grant: grantOf(more),
});
const faultOf = (work: () => void) => {
  try {
    work();
  } catch (error) {
    return isFault(error) ? error.fault : String(error);
  }
  return "allowed";
};

describe("the Authorization header", () => {
  const good = mintApiToken();
  const wrong = (at: number) => `${good.slice(0, at)}${good[at] === "0" ? "1" : "0"}${good.slice(at + 1)}`;
  const cases: [what: string, header: string | undefined, kind: string][] = [
    ["a token", `Bearer ${good}`, "hash"],
    ["the scheme in another case", `bEaReR   ${good}`, "hash"],
    ["no header", undefined, "none"],
    ["the token without a scheme", good, "none"],
    ["another scheme", `Basic ${good}`, "none"],
    ["the bearer of something else", "Bearer eyJhbGciOi.J9.sig", "none"],
    ["the prefix in capitals", `Bearer ${good.toUpperCase()}`, "none"],
    ["a token with a letter changed", `Bearer ${wrong(20)}`, "unusable"],
    ["a token with another checksum", `Bearer ${wrong(good.length - 1)}`, "unusable"],
    ["a token cut short", `Bearer ${good.slice(0, -1)}`, "unusable"],
    ["a token with a space inside", `Bearer ${good.slice(0, 20)} ${good.slice(20)}`, "unusable"],
    ["a token with a tab behind it", `Bearer ${good}\t`, "unusable"],
    ["two tokens", `Bearer ${good}, Bearer ${good}`, "unusable"],
    ["8 KiB", `Bearer svc_pat_${"a".repeat(8_192)}`, "unusable"],
  ];
  for (const [what, header, kind] of cases)
    test(`${what} is ${kind}`, () => assert.equal(presentedToken(header).kind, kind));
});

describe("what a token opens", () => {
  for (const right of rights) {
    test(`the right ${right} alone opens what needs it alone, and nothing else`, () => {
      const at = (needed: Right[]) => () =>
        checkToken({ rights: needed, setup: false }, liveToken({ rights: [right] }), "player");
      for (const needed of rights)
        assert.equal(faultOf(at([needed])), needed === right ? "allowed" : "token_scope", needed);
      for (const other of rights.filter((one) => one !== right))
        assert.equal(faultOf(at([right, other])), "token_scope");
    });
  }
  const refusals: [what: string, http: { rights?: Right[] }, live: LiveToken, fault: string][] = [
    ["an operation without rights", {}, liveToken(), "token_not_accepted"],
    ["an account in setup", { rights: ["see"] }, { ...liveToken(), setup: true }, "setup_required"],
  ];
  for (const [what, http, live, fault] of refusals) {
    test(`${what} is ${fault}`, () =>
      assert.equal(
        faultOf(() => checkToken({ setup: false, ...http }, live, "player")),
        fault,
      ));
  }
  test("the operator console takes none, whatever its rights", () =>
    assert.equal(
      faultOf(() => checkToken({ rights: ["see"], setup: false }, liveToken(), "operator")),
      "token_not_accepted",
    ));

  const session: Principal = { ...tokenPrincipal(liveToken(), "hash"), token: undefined };
  const some = tokenPrincipal(liveToken({ servers: ["alpha"] }), "hash");
  const all = tokenPrincipal(liveToken(), "hash");
  const reach: [
    who: string,
    principal: Principal,
    input: Record<string, unknown>,
    by: boolean,
    ok: boolean,
  ][] = [
    ["a session", session, { name: "beta" }, false, true],
    ["a token for all servers", all, { name: "beta" }, false, true],
    ["a token for all servers where no server is named", all, {}, false, false],
    ["a token for a server at it", some, { name: "alpha" }, false, true],
    ["a token for a server at another", some, { name: "beta" }, false, false],
    ["a token for a server at its name in capitals", some, { name: "ALPHA" }, false, false],
    ["a token for a server where no server is named", some, {}, false, false],
    ["a token for a server where its owner decides", some, {}, true, true],
  ];
  for (const [who, principal, input, byOwner, isAllowed] of reach) {
    test(`${who} is ${isAllowed ? "let on" : "refused"}`, () =>
      assert.equal(
        faultOf(() => checkServer(byOwner ? { serversBy: "owner" } : {}, principal, input)),
        isAllowed ? "allowed" : "token_scope",
      ));
  }
});

test("a budget is used up by its own token alone and comes back with time", () => {
  let now = 0;
  const budget = createMinuteBudget(60, () => now);
  for (let times = 0; times < 60; times++) assert.equal(budget.take("a"), 0);
  assert.equal(budget.take("a"), 1);
  assert.equal(budget.take("b"), 0);
  now += 1_000;
  assert.deepEqual([budget.take("a"), budget.take("a")], [0, 1]);
});

describe("a request with an API token", () => {
  let fixture: GatewayFixture;
  let face: RunningFace;
  let downloads = 0;
  before(async () => {
    fixture = await startGatewayFixture();
    for (const contract of [tokenSee, tokenAct, tokenOwn, tokenPlaceless])
      fixture.owner.serve(contract, ({ principal }, input) => ({ principal, input }));
    for (const contract of [app, open, admin, inSetup]) {
      fixture.owner.serve(contract, (context, input) => ({
        ...{ principal: context.principal, client: context.client, input },
        ...{ request_id: context.requestId, traceparent: context.traceparent },
      }));
    }
    fixture.owner.serve(tokenDownload, (context) => {
      downloads++;
      context.reply.byteTransfer = fixture.owner.byteTransfers.download({
        headers: {},
        source: async function* (signal) {
          while (!signal.aborted) yield Buffer.alloc(10_000);
        },
      });
      return null;
    });
    fixture.owner.serve(tokenWatch, (context) => {
      context.reply.stream = { stream: "LIVE", subject: "svc.live.lifecycle.console.alpha", tail: 0 };
      return null;
    });
    face = await fixture.startFace();
  });
  after(() => fixture.close());

  function mint(more: Partial<LiveToken["grant"]> = {}): string {
    const secret = mintApiToken();
    fixture.tokens.set(hashOf(secret), liveToken({ id: `tok-${secret.slice(8, 16)}`, ...more }));
    return secret;
  }
  type Asked = { method?: string; port?: number; headers?: Record<string, string> };
  const ask = (path: string, secret: string, { method = "GET", port, headers }: Asked = {}) =>
    send(port ?? face.port, {
      ...{ method, path },
      headers: { host: "console.test", authorization: `Bearer ${secret}`, ...headers },
    });
  const outcome = async (answer: ReturnType<typeof ask>) => {
    const { status, json } = await answer;
    const error = json()["error"] as Record<string, unknown> | undefined;
    return error ? `${status} ${error["code"]}` : String(status);
  };

  test("goes to the owner as the account without staff, with the token's grant", async () => {
    const secret = mint({ servers: ["alpha"], rights: ["see"] });
    const answer = await ask("/servers/alpha/see", secret);
    assert.deepEqual(answer.json()["principal"], {
      ...{ kind: "account", user_id: "usr-1", username: "ada", role: "user", staff: false, setup: false },
      session: hashOf(secret),
      token: { id: `tok-${secret.slice(8, 16)}`, rights: ["see"], servers: ["alpha"] },
    });
    assert.ok(!JSON.stringify(face.log).includes(secret));
    assert.match(String(face.log.at(-1)?.["principal"]), /^usr-1 token:tok-/);
  });

  test("is refused wherever its rights, servers or the operation do not allow it", async () => {
    const secret = mint({ servers: ["alpha"], rights: ["see", "power"] });
    const expected: [method: string, path: string, outcome: string][] = [
      ["GET", "/servers/alpha/see", "200"],
      ["GET", "/servers/beta/see", "403 token_scope"],
      ["GET", "/servers/%61lpha/see", "200"],
      ["POST", "/servers/alpha/act", "403 token_scope"],
      ["GET", "/own", "200"],
      ["GET", "/placeless", "403 token_scope"],
      ["GET", "/app", "403 token_not_accepted"],
      ["GET", "/in-setup", "403 token_not_accepted"],
      ["GET", "/admin", "403 token_not_accepted"],
      ["GET", "/owner", "403 token_not_accepted"],
    ];
    for (const [method, path, wanted] of expected)
      assert.equal(await outcome(ask(path, secret, { method })), wanted, path);
    const anonymous = await ask("/open", secret);
    assert.deepEqual(anonymous.json()["principal"], { kind: "anonymous" });
  });

  test("is refused on the operator console", async () => {
    const headers = { host: "op.console.test" };
    assert.equal(await outcome(ask("/servers/alpha/see", mint(), { headers })), "403 token_not_accepted");
  });

  test("is refused with a session cookie beside it, and a bearer of another kind leaves the cookie alone", async () => {
    const cookie = "c".repeat(43);
    const who = { user_id: "usr-2", username: "b", role: "user", setup: false } as const;
    const session = { ...who, host: "player" } as const;
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    fixture.sessions.set(hashOf(cookie), { state: "live", ...session, expires_at });
    const headers = { cookie: `svc_session=${cookie}` };
    assert.equal(await outcome(ask("/servers/alpha/see", mint(), { headers })), "400 bad_request");
    assert.equal(await outcome(ask("/servers/alpha/see", "a.foreign.jwt", { headers })), "200");
    assert.equal(await outcome(ask("/servers/alpha/see", "a.foreign.jwt")), "401 unauthorized");
  });

  test("is refused with the token in the query instead of the header", async () => {
    const secret = mint();
    const path = `/servers/alpha/see?access_token=${secret}`;
    assert.equal((await send(face.port, { path, headers: { host: "console.test" } })).status, 401);
  });

  test("is 401 with words for an unknown, an expired and a revoked token, and a malformed one costs identity nothing", async () => {
    const words = async (state: "unknown" | "expired" | "revoked") => {
      const secret = mintApiToken();
      fixture.tokens.set(hashOf(secret), { state });
      const answer = await ask("/servers/alpha/see", secret);
      assert.equal(answer.status, 401);
      return String((answer.json()["error"] as Record<string, unknown>)["message"]);
    };
    assert.match(await words("unknown"), /is unknown/);
    assert.match(await words("expired"), /has expired; make a new one/);
    assert.match(await words("revoked"), /was revoked; make a new one/);
    const asked = fixture.asked();
    assert.equal(await outcome(ask("/servers/alpha/see", `${mintApiToken()}0`)), "401 unauthorized");
    assert.equal(fixture.asked(), asked);
  });

  test("is 429 with Retry-After beyond the token's budget, which is counted, and only for that token", async () => {
    const slow = await fixture.startFace({ settings: { tokenRequestsPerMinute: 2 } });
    const [secret, other] = [mint(), mint()];
    const at = (which: string) => ask("/servers/alpha/see", which, { port: slow.port });
    assert.deepEqual([(await at(secret)).status, (await at(secret)).status], [200, 200]);
    const refused = await at(secret);
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers["retry-after"]) > 0);
    assert.equal((await at(other)).status, 200);
    assert.match(await slow.registry.metrics(), /svc_rate_limited_total\{scope="api_token"\} 1/);
  });

  test("asks identity once within the time of the cache, and a revocation ends that at once", async () => {
    const secret = mint();
    const asked = fixture.asked();
    for (let times = 0; times < 3; times++) await ask("/servers/alpha/see", secret);
    assert.equal(fixture.asked(), asked + 1);
    fixture.tokens.set(hashOf(secret), { state: "revoked" });
    await revoke(secret);
    await until(async () => (await ask("/servers/alpha/see", secret)).status === 401);
  });

  async function revoke(secret: string): Promise<void> {
    const data = { hash: hashOf(secret), user_id: "usr-1", at: new Date().toISOString() };
    const body = Buffer.from(JSON.stringify(data));
    await fixture.identity.publish([
      { id: data.hash, subject: eventSubject(accounts.sessionRevoked, data), body },
    ]);
  }
  async function stream(path: string, secret: string, port = face.port) {
    const headers = { authorization: `Bearer ${secret}` };
    const asking = request({ host: "127.0.0.1", port, path, headers, agent: false }).on("error", () => {});
    asking.end();
    const [answer] = (await once(asking, "response")) as [IncomingMessage];
    let text = "";
    answer.on("data", (chunk: Buffer) => (text = (text + chunk.toString("latin1")).slice(-200)));
    answer.on("error", () => {});
    return { answer, text: () => text, closed: new Promise((done) => answer.once("close", done)) };
  }

  test("that streams or downloads is ended when the token is revoked", async () => {
    const secret = mint();
    const [log, bytes] = await Promise.all([
      stream("/servers/alpha/log", secret),
      stream("/servers/alpha/bytes", secret),
    ]);
    await until(() => downloads > 0 && bytes.text().length > 0);
    await revoke(secret);
    await Promise.all([log.closed, bytes.closed]);
    assert.match(log.text(), /event: revoked/);
    assert.equal(bytes.answer.complete, false);
  });

  test("that streams is ended by the check of the minute when the token has expired", async () => {
    const checking = await fixture.startFace({ settings: { streamRecheckMs: 80 } });
    const secret = mint();
    const log = await stream("/servers/alpha/log", secret, checking.port);
    fixture.tokens.set(hashOf(secret), { state: "expired" });
    await log.closed;
    assert.match(log.text(), /event: revoked/);
  });

  test("is 503 while identity cannot be asked, never 401", async () => {
    const lonely = await startGatewayFixture();
    try {
      await lonely.identity.drain(200);
      const alone = await lonely.startFace();
      const answer = await ask("/servers/alpha/see", mintApiToken(), { port: alone.port });
      assert.deepEqual([answer.status, answer.headers["retry-after"]], [503, "1"]);
    } finally {
      await lonely.close();
    }
  });
});
