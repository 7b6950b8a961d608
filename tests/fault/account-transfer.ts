// A server transfer between two players' accounts up to its last step, which a test disturbs.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { until } from "@svc/local-stack/testing";
import { newestCode } from "../flow/stack.ts";
import type { RawRequest, RawResponse } from "../security/raw-request.ts";
import { cookieOf, type StackFixture } from "../security/stack-fixture.ts";

function field(reply: RawResponse, name: string): string {
  return String((JSON.parse(reply.text) as Record<string, unknown>)[name]);
}

/** Prepares the transfer of `server`; the returned work redeems it until the target owns the server. */
export async function createTransfer(
  fixture: StackFixture,
  server: string,
  patienceMs: number,
): Promise<() => Promise<void>> {
  const signIn = async (mcUuid: string) => {
    const json = { mc_uuid: mcUuid };
    const minted = await fixture.asProxy({
      method: "POST",
      path: "/api/v1/internal/account/link/code",
      json,
    });
    assert.equal(minted.status, 201, minted.text);
    const headers = { host: fixture.panelHost };
    const bind = {
      method: "POST",
      path: "/api/v1/auth/bind",
      json: { code: field(minted, "code") },
      headers,
    };
    const bound = await fixture.withCookie(undefined, bind);
    assert.equal(bound.status, 200, bound.text);
    let cookie = cookieOf(bound);
    const visit = async (question: RawRequest): Promise<RawResponse> => {
      const reply = await fixture.withCookie(cookie, { ...question, headers });
      cookie = cookieOf(reply) || cookie;
      return reply;
    };
    const post = (path: string, body?: unknown) =>
      visit({
        method: "POST",
        path: `/api/v1/account/${path}`,
        ...(body === undefined ? {} : { json: body }),
      });
    return { visit, post, userId: field(bound, "user_id") };
  };
  const { dir } = fixture.stack.file().mail;
  const codeAfter = (old?: string) =>
    until(
      () => {
        const newest = newestCode(dir);
        return newest === old ? undefined : newest;
      },
      30_000,
      "a mailed code",
    );

  const giver = randomUUID();
  const [source, target] = [await signIn(giver), await signIn(randomUUID())];
  const claim = {
    method: "POST",
    path: `/api/v1/internal/servers/${server}/claim`,
    json: { mc_uuid: giver },
  };
  const claimed = await fixture.asProxy(claim);
  assert.equal(claimed.status, 200, claimed.text);
  const former = newestCode(dir);
  assert.equal((await source.post("email/start", { email: `${giver}@example.net` })).status, 202);
  const proof = await codeAfter(former);
  assert.equal((await source.post("email/verify", { code: proof })).status, 200);
  const json = { mc_uuid: giver };
  const start = { method: "POST", path: "/api/v1/internal/account/migrate/start", json };
  assert.equal((await fixture.asProxy(start)).status, 201);
  await until(
    async () => (await source.post("migrate/confirm/otp/start")).status === 202,
    30_000,
    "the wait between two mails",
  );
  assert.equal(
    (await source.post("migrate/confirm/otp/verify", { code: await codeAfter(proof) })).status,
    200,
  );
  const issued = await source.post("migrate/issue-code", { target_user_id: target.userId });
  assert.equal(issued.status, 201, issued.text);
  const code = field(issued, "code");

  const isTheirs = async () => {
    const mine = await target.visit({ path: "/api/v1/me/servers" });
    if (mine.status !== 200) return false;
    const { servers } = JSON.parse(mine.text) as { servers: { name: string; owned: boolean }[] };
    return servers.some(({ name, owned }) => name === server && owned);
  };
  return async () => {
    await until(
      async () => {
        const redeemed = await target.post("migrate/redeem", { code });
        // A code whose answer got lost is spent: then the transfer goes on by itself.
        assert.ok([200, 400, 409, 429, 503, 504].includes(redeemed.status), redeemed.text);
        return isTheirs();
      },
      patienceMs,
      `${server} to have its new owner`,
    );
    await until(
      async () => {
        return (await source.visit({ path: "/api/v1/me" })).status === 401;
      },
      patienceMs,
      "the source's session to end",
    );
  };
}
