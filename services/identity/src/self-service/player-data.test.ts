// What is kept about a player of the caller, with lifecycle answering as it does; erasing itself is tested there.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { knownPlayers, playerData } from "@svc/proto";
import { type Fixture, type Person, startFixture } from "../testing/fixture.ts";
import { createPasskeyPeople } from "../testing/passkeys.ts";

let fixture: Fixture;
const asked: string[] = [];
before(async () => {
  fixture = await startFixture();
  fixture.lifecycle.serve(knownPlayers.readData, (_context, { mc_uuid }) => {
    asked.push(`read ${mc_uuid}`);
    return { servers: [], notes: [], wake_rights: [], kept_days: 365 };
  });
  fixture.lifecycle.serve(knownPlayers.eraseData, ({ principal }, { mc_uuid }) => {
    asked.push(`erase ${mc_uuid} ${principal.kind === "account" ? principal.user_id : ""}`);
    return { servers: 1, notes: 0 };
  });
  await fixture.lifecycle.announce();
});
after(() => fixture.stop());

const people = createPasskeyPeople(() => fixture);
const linked = async () => {
  const person = await fixture.person({ email: `${randomUUID()}@example.org`, emailVerified: true });
  const uuid = randomUUID();
  const add = "insert into identity.account_links (user_id, mc_uuid, auth_source) values ($1, $2, 'mojang')";
  await fixture.database.admin(add, [person.userId, uuid]);
  return { person, uuid };
};
const refused = async (
  contract: typeof playerData.erase | typeof playerData.read,
  person: Person,
  mc_uuid: string,
) => (await fixture.refused(contract, { mc_uuid }, people.as(person))).fault;

test("a player's account reads what is kept, and nobody else does", async () => {
  const [{ person, uuid }, other] = [await linked(), await linked()];
  const read = await fixture.gateway.call(playerData.read, { mc_uuid: uuid }, people.as(person));
  assert.deepEqual([read.mc_uuid, read.link.auth_source, read.kept_days], [uuid, "mojang", 365]);
  asked.splice(0);
  assert.equal(await refused(playerData.read, other.person, uuid), "not_found");
  assert.equal(await refused(playerData.erase, other.person, uuid), "not_found");
  assert.equal(await refused(playerData.read, person, "x"), "bad_request");
  assert.deepEqual(asked, []);
});

test("erasing takes a fresh proof, and lifecycle is told who asked", async () => {
  const { person, uuid } = await linked();
  asked.splice(0);
  assert.equal(await fixture.gateway.call(playerData.erase, { mc_uuid: uuid }, people.as(person)), null);
  assert.deepEqual(asked, [`erase ${uuid} ${person.userId}`]);
  fixture.pass(5 * 60_000);
  assert.equal(await refused(playerData.erase, person, uuid), "reauth_required");
  assert.equal(asked.length, 1);
});
