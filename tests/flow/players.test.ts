// Players, from the session server to the hand-over of everything they own, through both gateways and all services.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { type Answer, newestCode, type Stack, send, startStack } from "./stack.ts";

/** A session server that knows the players of a map by their server id. */
async function startSessionServer(joined: ReadonlyMap<string, { id: string; name: string }>) {
  const server: Server = createServer((request, response) => {
    const query = new URL(request.url ?? "/", "http://x").searchParams;
    const player = joined.get(query.get("serverId") ?? "");
    if (!player) return void response.writeHead(query.has("serverId") ? 204 : 404).end();
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(player));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { root, stop };
}

describe("a player", () => {
  let stack: Stack;
  const joined = new Map<string, { id: string; name: string }>();
  let sessions: Awaited<ReturnType<typeof startSessionServer>>;
  before(async () => {
    sessions = await startSessionServer(joined);
    stack = await startStack([
      ...["--only", "identity,lifecycle,builds,gateway-internal,gateway-external"],
      ...["--set", "identity.otp_resend=1s"],
      ...["--set", `identity.mojang_session_url=${sessions.root}/hasJoined`],
      ...["--set", `identity.mojang_profile_url=${sessions.root}/names/`],
    ]);
    await stack.becomeOwner();
  });
  after(async () => {
    await stack?.stop();
    await sessions?.stop();
  });

  const field = (answer: Answer, name: string) => String((answer.body as Record<string, unknown>)[name]);
  /** A browser on the panel, with cookies of its own. */
  const browser = () => {
    let cookie = "";
    return async (method: string, path: string, body?: unknown): Promise<Answer> => {
      const { external_base_url, panel_host } = stack.file();
      const host = `${panel_host.split(":")[0]}:${new URL(external_base_url).port}`;
      const headers = { host, ...(cookie && { cookie }) };
      const answer = await send(new URL(path, external_base_url).href, { method, headers, body });
      const [set] = answer.headers["set-cookie"] ?? [];
      if (set) cookie = set.split(";")[0] ?? "";
      return answer;
    };
  };
  const bindCode = async (mc_uuid: string) => {
    const minted = await stack.internal("POST", "/api/v1/internal/account/link/code", { mc_uuid });
    assert.equal(minted.status, 201, JSON.stringify(minted.body));
    return field(minted, "code");
  };
  const signIn = async (mcUuid: string) => {
    const visit = browser();
    const bound = await visit("POST", "/api/v1/auth/bind", { code: await bindCode(mcUuid) });
    assert.equal(bound.status, 200, JSON.stringify(bound.body));
    return { visit, userId: field(bound, "user_id") };
  };

  test("is admitted on both paths, an unknown player gets an empty 204, and a body is refused", async () => {
    const player = { id: randomUUID().replaceAll("-", ""), name: "Steve" };
    joined.set("-abc", player);
    for (const path of ["/session/game/hasJoined", "/session/minecraft/hasJoined"]) {
      const answer = await stack.internal("GET", `${path}?username=Steve&serverId=-abc`);
      assert.deepEqual([answer.status, answer.body], [200, player]);
      const stranger = await stack.internal("GET", `${path}?username=Steve&serverId=-other`);
      assert.deepEqual([stranger.status, stranger.body], [204, undefined]);
    }
    const { hostname, port } = new URL(stack.file().internal_base_url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.write(
      "GET /session/game/hasJoined?username=a&serverId=b HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na",
    );
    assert.match(await text(socket), /^HTTP\/1\.1 400 [\s\S]*\r\n\r\n$/);
  });

  test("is linked, signs in, claims a server and transfers it to another account", async () => {
    const created = await stack.external("POST", "/api/v1/servers", {
      name: "handed",
      subdomain: "handed",
      claimable: true,
    });
    assert.equal(created.status, 201, JSON.stringify(created.body));
    const [giver, taker] = [randomUUID(), randomUUID()];
    const status = `/api/v1/internal/account/link/status/${giver}`;
    assert.deepEqual((await stack.internal("GET", status)).body, { linked: false });
    const source = await signIn(giver);
    const target = await signIn(taker);
    assert.deepEqual((await stack.internal("GET", status)).body, { linked: true });
    const claimed = await stack.internal("POST", "/api/v1/internal/servers/handed/claim", { mc_uuid: giver });
    assert.equal(claimed.status, 200, JSON.stringify(claimed.body));

    const email = { email: "giver@example.net" };
    assert.equal((await source.visit("POST", "/api/v1/account/email/start", email)).status, 202);
    const proof = await until(() => newestCode(stack.file().mail.dir), 10_000, "the code for the address");
    assert.equal((await source.visit("POST", "/api/v1/account/email/verify", { code: proof })).status, 200);

    const start = "/api/v1/internal/account/migrate/start";
    assert.equal((await stack.internal("POST", start, { mc_uuid: giver })).status, 201);
    const path = "/api/v1/account/migrate";
    const sent = await until(
      async () => {
        const answer = await source.visit("POST", `${path}/confirm/otp/start`);
        return answer.status === 202 ? answer : undefined;
      },
      10_000,
      "the wait between two mails",
    );
    assert.equal(sent.status, 202);
    const code = await until(
      () => {
        const newest = newestCode(stack.file().mail.dir);
        return newest === proof ? undefined : newest;
      },
      10_000,
      "the code to confirm with",
    );
    assert.equal((await source.visit("POST", `${path}/confirm/otp/verify`, { code })).status, 200);
    const target_user_id = target.userId;
    const issued = await source.visit("POST", `${path}/issue-code`, { target_user_id });
    assert.equal(issued.status, 201, JSON.stringify(issued.body));
    const redeemed = await target.visit("POST", `${path}/redeem`, { code: field(issued, "code") });
    assert.deepEqual(redeemed.body, { migrated: true, servers_moved: 1, servers: ["handed"] });
    await until(
      async () => {
        return (await source.visit("GET", "/api/v1/me")).status === 401;
      },
      10_000,
      "the end of the source's session",
    );
    const mine = (await target.visit("GET", "/api/v1/me/servers")).body as { servers: { name: string }[] };
    assert.ok(mine.servers.some(({ name }) => name === "handed"));
  });
});
