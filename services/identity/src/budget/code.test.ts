import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import {
  type AnyContract,
  accountMigrations,
  accounts,
  cliLogins,
  links,
  oidc,
  operations,
  passkeys,
} from "@svc/proto";
import { type Fixture, type Person, startFixture } from "../testing/fixture.ts";

const minute = 60_000;
const burst = 4;
/** Every operation whose input has a code typed by a signed-in person. */
const fields: AnyContract[] = [
  links.verifyLink,
  accountMigrations.redeem,
  accountMigrations.verifyCode,
  accounts.verifyEmail,
  passkeys.verifyReauthEmail,
];

test("every operation for signed-in people that takes a code declares that attempts are limited", () => {
  const taking = operations.filter(
    ({ http, params, body, subject }) =>
      // Its code is the provider's, and counts once, with the secret of the login.
      subject !== oidc.finishLink.subject &&
      http.faces.includes("external") &&
      http.tier !== "public" &&
      [params, body].some((part) => part?.shape["code"]),
  );
  // The attempts of those two are counted in cli-login.test.ts.
  const known = [...fields, cliLogins.read, cliLogins.decide];
  assert.deepEqual(taking.map(({ subject }) => subject).sort(), known.map(({ subject }) => subject).sort());
  for (const { subject, faults } of taking) assert.ok(faults.includes("rate_limited"), subject);
});

describe("code attempts of a signed-in account", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture({
      set: [`identity.code_burst=${burst}`, `identity.code_per_minute=${burst}`],
    });
  });
  after(() => fixture.stop());
  const tryAt = (contract: AnyContract, person: Person, address = "192.0.2.1") =>
    fixture.refused(
      contract,
      { code: "ABCDEFGH" },
      { principal: person.principal, client: { address, userAgent: "" } },
    );
  const limited = { fault: "rate_limited", retryAfterSeconds: 60 / burst };

  for (const field of fields) {
    test(`${field.subject} has a budget per account, whatever the address of its requests`, async () => {
      const [person, other] = [await fixture.person(), await fixture.person()];
      for (let tries = 0; tries < burst; tries++)
        assert.notEqual((await tryAt(field, person, `192.0.2.${tries}`)).fault, "rate_limited");
      assert.deepEqual(await tryAt(field, person, "198.51.100.1"), limited);
      assert.notEqual((await tryAt(field, other)).fault, "rate_limited");
      fixture.pass(minute / burst);
      assert.notEqual((await tryAt(field, person)).fault, "rate_limited");
      assert.deepEqual(await tryAt(field, person), limited);
    });
  }

  test("all such operations of an account share it, also for parallel requests", async () => {
    const person = await fixture.person();
    const asked = Array.from({ length: 4 }, () => fields.map((field) => tryAt(field, person))).flat();
    const answers = await Promise.all(asked);
    assert.equal(answers.filter(({ fault }) => fault !== "rate_limited").length, burst);
  });

  const rowsOf = (person: Person) =>
    fixture.database.admin(
      `select action, payload ->> 'reason' as reason, (payload ->> 'tries')::int as tries from identity.audit_logs
        where actor_user_id = $1 order by created_at, reason`,
      [person.userId],
    );

  test("rejected codes give one audit entry per interval, with their count", async () => {
    const person = await fixture.person();
    await Promise.all(Array.from({ length: burst + 3 }, () => tryAt(links.verifyLink, person)));
    const counted = [
      { action: "auth.bind.failed", reason: "bad_code", tries: burst },
      { action: "auth.bind.failed", reason: "rate_limited", tries: 3 },
    ];
    await until(async () => (await rowsOf(person)).reduce((sum, { tries }) => sum + Number(tries), 0) === 7);
    assert.deepEqual(await rowsOf(person), counted);
    fixture.pass(10 * minute);
    await tryAt(links.verifyLink, person);
    await until(async () => (await rowsOf(person)).length === 3);
    assert.deepEqual((await rowsOf(person)).at(-1), { ...counted[0], tries: 1 });
  });
});
