import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { loadSettings } from "@svc/config";
import { type Store, takeToken } from "@svc/store";
import type { TestDatabase } from "@svc/store/testing";
import { settings } from "../config.ts";
import type { Tables } from "../database.ts";
import { createIdentityDatabase } from "../testing/fixture.ts";
import { createTakeSignInBudget } from "./sign-in.ts";

describe("a token bucket", () => {
  let database: TestDatabase;
  let store: Store<Tables>;
  let clock = Date.parse("2026-01-01T00:00:00Z");
  let number = 0;
  const newKey = () => `192.0.2.${++number}`;
  const take = (key: string, at = clock) =>
    takeToken(store.db, {
      table: "sign_in_budgets",
      key,
      burst: 20,
      perSecond: 20 / 60,
      now: new Date(at),
    });
  const takeAtOnce = async (key: string, count: number) => {
    const answers = await Promise.all(Array.from({ length: count }, () => take(key)));
    return answers.filter((answer) => answer.allowed).length;
  };
  before(async () => {
    database = await createIdentityDatabase();
    store = database.open<Tables>({ poolSize: 8 });
  });
  after(async () => {
    await store.close();
    await database.drop();
  });

  test("grants parallel callers its burst and no more", async () => {
    assert.equal(await takeAtOnce(newKey(), 40), 20);
  });

  test("returns how long to wait for the next token", async () => {
    const key = newKey();
    await takeAtOnce(key, 20);
    assert.deepEqual(await take(key), { allowed: false, retryAfterSeconds: 3 });
    clock += 2_500;
    assert.deepEqual(await take(key), { allowed: false, retryAfterSeconds: 1 });
    clock += 500;
    assert.deepEqual(await take(key), { allowed: true });
  });

  test("refills by the minute up to its burst", async () => {
    const key = newKey();
    await takeAtOnce(key, 20);
    clock += 30_000;
    assert.equal(await takeAtOnce(key, 20), 10);
    clock += 3_600_000;
    assert.equal(await takeAtOnce(key, 40), 20);
  });

  test("refills nothing when a replica's clock is behind", async () => {
    const key = newKey();
    await takeAtOnce(key, 20);
    assert.equal((await take(key, clock - 60_000)).allowed, false);
    assert.equal((await take(key)).allowed, false);
  });

  test("is separate for each address", async () => {
    const [one, other] = [newKey(), newKey()];
    await takeAtOnce(one, 20);
    assert.deepEqual(await take(other), { allowed: true });
  });

  test("returns the seconds to wait to a gateway, and audits an address once a minute", async () => {
    const { identity: limits } = loadSettings(settings, { overrides: ["identity.sign_in_burst=1"] });
    const received: string[] = [];
    const events = {
      rateLimited: (_asker: unknown, about: { address: string }) => received.push(about.address),
    };
    const deps = { db: store.db, limits, now: () => new Date(clock), events };
    const handler = createTakeSignInBudget(deps as never);
    const key = newKey();
    const ask = () => handler(undefined as never, { address: key });
    assert.deepEqual(await ask(), { allowed: true, retry_after_seconds: 0 });
    assert.deepEqual(await ask(), { allowed: false, retry_after_seconds: 3 });
    await ask();
    assert.deepEqual(received, [key]);
    clock += 60_000;
    await ask();
    await ask();
    assert.deepEqual(received, [key, key]);
  });
});
