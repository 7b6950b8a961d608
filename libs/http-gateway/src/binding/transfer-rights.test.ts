import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { accounts, eventSubject } from "@svc/proto";
import * as contracts from "../testing/contracts.ts";
import { type GatewayFixture, type RunningFace, startGatewayFixture } from "../testing/gateway-fixture.ts";

const megabyte = 1_000_000;

describe("transfers whose caller loses the right to them", () => {
  let fixture: GatewayFixture;
  let face: RunningFace;
  const received = new Map<string, number | "broken">();
  const sent = new Map<string, "sending" | "stopped">();
  before(async () => {
    fixture = await startGatewayFixture();
    fixture.owner.serve(contracts.put, (context, { id }) => {
      context.reply.byteTransfer = fixture.owner.byteTransfers.upload({
        receive: async (body) => {
          received.set(id, 0);
          try {
            for await (const chunk of body) received.set(id, Number(received.get(id)) + chunk.length);
          } catch (error) {
            received.set(id, "broken");
            throw error;
          }
          return { size: received.get(id) };
        },
      });
      return null;
    });
    fixture.owner.serve(contracts.get, (context, { id }) => {
      context.reply.byteTransfer = fixture.owner.byteTransfers.download({
        headers: { "Content-Length": String(1_000 * megabyte) },
        source: async function* (signal) {
          sent.set(id, "sending");
          try {
            while (!signal.aborted) yield Buffer.alloc(megabyte / 100);
          } finally {
            sent.set(id, "stopped");
          }
        },
      });
      return null;
    });
    // Only events end what runs here; the other one is asked again and again.
    face = await fixture.startFace();
    checking = await fixture.startFace({ settings: { streamRecheckMs: 80 } });
  });
  after(() => fixture.close());
  let checking: RunningFace;

  function signIn() {
    const cookie = randomBytes(32).toString("base64url");
    const hash = createHash("sha256").update(cookie).digest("hex");
    const about = {
      user_id: "usr-1",
      username: "usr-1",
      role: "user",
      host: "player",
      setup: false,
    } as const;
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    fixture.sessions.set(hash, { state: "live", ...about, expires_at });
    return { cookie, hash };
  }
  function revoke(hash: string): Promise<void> {
    const data = { hash, user_id: "usr-1", at: new Date().toISOString() };
    const subject = eventSubject(accounts.sessionRevoked, data);
    const id = randomBytes(8).toString("hex");
    return fixture.identity.publish([{ id, subject, body: Buffer.from(JSON.stringify(data)) }]);
  }
  const losses = {
    "its session is revoked": { at: () => face, lose: (hash: string) => revoke(hash) },
    "the check of the minute says no": {
      at: () => checking,
      lose: async (hash: string) => void fixture.sessions.delete(hash),
    },
  };
  const ask = (port: number, path: string, about: { method: string; cookie: string }): ClientRequest => {
    const headers = { cookie: `svc_session=${about.cookie}`, "content-length": String(1_000 * megabyte) };
    const sending = request({ host: "127.0.0.1", port, path, method: about.method, headers, agent: false });
    sending.on("error", () => {});
    return sending;
  };

  for (const [when, { at, lose }] of Object.entries(losses)) {
    test(`a download is cut off when ${when}, and does not look complete`, async () => {
      const { cookie, hash } = signIn();
      const other = signIn();
      const read = async (id: string, mine: string) => {
        const asking = ask(at().port, `/blobs/${id}`, { method: "GET", cookie: mine });
        asking.removeHeader("content-length");
        asking.end();
        const [answer] = (await once(asking, "response")) as [IncomingMessage];
        let bytes = 0;
        answer.on("data", (chunk: Buffer) => (bytes += chunk.length));
        answer.on("error", () => {});
        await until(() => bytes > megabyte);
        return { asking, answer, bytes: () => bytes };
      };
      const theirs = await read("other", other.cookie);
      const mine = await read("mine", cookie);
      const cut = new Promise((resolve) => mine.answer.once("close", resolve));
      await lose(hash);
      await cut;
      assert.equal(mine.answer.complete, false);
      await until(() => sent.get("mine") === "stopped");
      const had = theirs.bytes();
      await until(() => theirs.bytes() > had + megabyte);
      theirs.asking.destroy();
    });

    test(`an upload is refused when ${when}, and nothing more is read`, async () => {
      const { cookie, hash } = signIn();
      const sending = ask(at().port, `/blobs/up-${at().port}`, { method: "PUT", cookie });
      sending.write(Buffer.alloc(megabyte));
      const answered = once(sending, "response") as Promise<[IncomingMessage]>;
      await until(() => received.get(`up-${at().port}`) === megabyte);
      await lose(hash);
      const [answer] = await answered;
      assert.equal(answer.statusCode, 401);
      answer.resume();
      await once(sending, "close");
      await until(() => received.get(`up-${at().port}`) === "broken");
    });
  }

  test("while identity is unreachable, the last answer stands", async () => {
    const { cookie, hash } = signIn();
    const sending = ask(checking.port, "/blobs/doubt", { method: "PUT", cookie });
    sending.write(Buffer.alloc(megabyte));
    await until(() => received.get("doubt") === megabyte);
    const asked = fixture.asked();
    const answer = fixture.sessions.get(hash);
    // An answer that fits no contract is a failure of identity.
    fixture.sessions.set(hash, { state: "odd" } as never);
    await until(() => fixture.asked() > asked + 2);
    if (answer) fixture.sessions.set(hash, answer);
    sending.write(Buffer.alloc(megabyte));
    await until(() => received.get("doubt") === 2 * megabyte);
    sending.destroy();
  });
});
