// API tokens on the account page: what is asked, the secret that is shown once, and the end of a token.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import type { Area, Fixture } from "./fixture.ts";
import { createPerson, type Person } from "./person.ts";

const { tokens } = en;

/** Status of a request with the token and without the cookie, as a script would send it. */
function ask(person: Person, secret: string): Promise<number> {
  return person.page.evaluate(async (text) => {
    const headers = { authorization: `Bearer ${text}` };
    const answer = await fetch("/api/v1/me/servers", { headers, credentials: "omit" });
    return answer.status;
  }, secret);
}

/** Somebody who came from the game, at their account page. */
export async function playerAtAccount({ browser, stack, addressOf }: Fixture): Promise<Person> {
  const minted = await stack.internal("POST", "/api/v1/internal/account/link/code", {
    mc_uuid: randomUUID(),
  });
  const person = await createPerson(browser);
  await person.open(addressOf("panel_host", "/login"));
  const { code } = minted.body as { code: string };
  assert.equal((await person.request("POST", "/auth/bind", { code })).status, 200);
  await person.open(addressOf("panel_host", "/account"));
  return person;
}

export const addApiTokenTests: Area = (fixture) => {
  test("an API token is made, shown once, used and revoked", async () => {
    const { inspect } = fixture();
    const person = await playerAtAccount(fixture());
    await person.press("button", tokens.make);
    await person.press("button", tokens.makeAction);
    await person.sees(tokens.nameMissing);
    await person.sees(tokens.serversMissing);
    await inspect(person, "account-new-token");
    await person.fill(tokens.tokenName, "deploy");
    await person.press("radio", tokens.reachAll);
    await person.press("button", tokens.makeAction);
    await person.sees(tokens.secretHelp);
    const secret = await person.page.$eval("[role=alertdialog] code", (code) => code.textContent ?? "");
    assert.match(secret, /^svc_pat_[\w-]{43}[0-9a-f]{8}$/);
    assert.equal(await ask(person, secret), 200);
    await person.press("button", tokens.secretDone);
    await person.seesNo(secret);
    await person.sees(tokens.rightWords.see);
    await person.press("button", tokens.revokeOf(isolate("deploy")));
    await person.press("button", tokens.revokeAction);
    await person.sees(tokens.about);
    await until(async () => (await ask(person, secret)) === 401);
    await person.leave();
  });
};
