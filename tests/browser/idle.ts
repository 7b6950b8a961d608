// A session of staff that nobody used for half an hour: it has ended, and costs nobody what was typed nor their place.

import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import pg from "pg";
import { en } from "../../services/panel/src/words/en/index.ts";
import type { Area, Fixture } from "./fixture.ts";
import type { Person } from "./person.ts";

const { audit, create, shell, signIn } = en;

/** Nobody used the session for so long; then a hand touches the page. */
async function comeBackAfterHalfAnHour({ stack, owner }: Fixture): Promise<void> {
  const database = new pg.Client(stack.file().database_url);
  await database.connect();
  await database.query(
    `update identity.sessions set last_seen_at = now() - interval '31 minutes'
     from identity.users where users.id = user_id and role = 'owner'`,
  );
  await database.end();
  // A gateway knows for a few seconds what identity said last, which in half an hour it has forgotten.
  await until(async () => (await owner.request("GET", "/me")).status === 401, 30_000, "401");
  await owner.page.evaluate(() => {
    const now = Date.now;
    Date.now = () => now() + 31 * 60_000;
    window.dispatchEvent(new Event("keydown"));
  });
}

/** Puts the passkey of one tab into the device of another. */
async function passOn(from: Person, to: Person): Promise<void> {
  const [passkey] = await from.authenticator.credentials();
  assert.ok(passkey);
  await to.authenticator.replace();
  await to.authenticator.add(passkey);
}

export const addIdleTests: Area = (fixture) => {
  test("staff who come back after half an hour sign in beside the page and go on with what was typed", async () => {
    const { owner, addressOf, inspect } = fixture();
    const { page } = owner;
    await owner.open(addressOf("admin_host", "/servers/new"));
    await owner.fill(create.name, "kept-name");
    await comeBackAfterHalfAnHour(fixture());
    await owner.sees(shell.sessionEnded);
    await owner.sees(shell.sessionEndedHelp);
    await inspect(owner, "session-idle");
    const beside = await owner.openTab();
    await passOn(owner, beside);
    await beside.open(addressOf("admin_host", "/login?next=/servers/new"));
    await beside.press("button", signIn.passkey);
    await beside.isAt("/servers/new");
    await passOn(beside, owner);
    assert.deepEqual(beside.faults(), []);
    await beside.page.close();
    await page.bringToFront();
    await page.evaluate(() => window.dispatchEvent(new Event("focus")));
    await owner.seesNo(shell.sessionEnded);
    const typed = await page.$eval("input[name=name]", (field) => (field as HTMLInputElement).value);
    assert.equal(typed, "kept-name");
    await owner.fill(create.name, "");
  });

  test("signing in again leads back to the page with what it showed", async () => {
    const { owner, addressOf } = fixture();
    const path = "/admin/audit?action=server.create";
    await owner.open(addressOf("admin_host", path));
    await owner.sees(audit.actions["server.create"]);
    await comeBackAfterHalfAnHour(fixture());
    await owner.sees(shell.sessionEnded);
    await owner.press("link", shell.signInAgain);
    await owner.isAt("/login");
    await owner.press("button", signIn.passkey);
    await owner.isAt("/admin/audit");
    const { pathname, search } = new URL(owner.page.url());
    assert.equal(pathname + search, path);
    await owner.sees(audit.actions["server.create"]);
  });
};
