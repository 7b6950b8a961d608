import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { testProgram } from "@svc/config/test-program";
import { oidc, type Principal } from "@svc/proto";
import { oidcProviders } from "../oidc-provider.ts";
import type { Person } from "../testing/fixture.ts";
import type { KilledOidc } from "../testing/killed-oidc.ts";
import { asPerson, newBrowser, type OidcFixture, origin, startOidcFixture } from "../testing/oidc-fixture.ts";

const program = testProgram(fileURLToPath(new URL("../testing/killed-oidc.ts", import.meta.url)));
const anonymous: Principal = { kind: "anonymous" };
const points = ["at the provider", "before the commit", "after the commit"] as const;
let number = 0;

describe("a process of identity that is killed", () => {
  let fixture: OidcFixture;
  before(async () => {
    fixture = await startOidcFixture();
  });
  after(() => fixture.stop());
  const kill = async (about: Pick<KilledOidc, "step" | "principal"> & Partial<KilledOidc>, point: string) => {
    const [provider] = oidcProviders.parse([
      {
        id: "club",
        issuer: fixture.club.issuer,
        client_id: "public",
        client_auth: "none",
        name_en: "Club",
        allow_sign_up: true,
      },
    ]);
    const input = JSON.stringify({ ...about, provider, origin });
    const child = spawn(process.execPath, [program, fixture.wire.url, point, input], { stdio: "inherit" });
    const [, signal] = (await once(child, "exit")) as [number | null, string | null];
    assert.equal(signal, "SIGKILL");
  };
  const count = async (statement: string, ...values: unknown[]) =>
    (
      (await fixture.database.admin(`select count(*)::int as count ${statement}`, values)) as {
        count: number;
      }[]
    )[0]?.count;
  const newcomer = () => {
    const sub = `killed-${++number}`;
    fixture.club.person = { sub, claims: { email: `${sub}@example.org`, email_verified: true } };
    return sub;
  };
  const answers = async () => fixture.answerOf(await fixture.begin("club", newBrowser()));

  for (const point of points) {
    test(`${point} makes an account with its identity, session and entry, or none of them`, async () => {
      const sub = newcomer();
      const answer = await answers();
      await kill({ step: "finish", principal: anonymous, answer }, point);
      const made = await count("from identity.external_identities where subject = $1", sub);
      assert.equal(made, point === "after the commit" ? 1 : 0);
      const sessions = await count(
        "from identity.sessions s join identity.external_identities e using (user_id) where e.subject = $1",
        sub,
      );
      assert.equal(sessions, made);
      // The code was redeemed: nobody can come with it again.
      const { fault } = await fixture.refused(oidc.finish, answer, {
        principal: anonymous,
        client: newBrowser(),
      });
      assert.equal(fault, "oidc_login_invalid");
      const { body } = await fixture.signIn("club");
      assert.equal(await count("from identity.external_identities where subject = $1", sub), 1);
      assert.equal(body["role"], "user");
    });

    test(`${point} links an identity with its entry, or does neither, and it can be linked again`, async () => {
      const sub = newcomer();
      const person = await fixture.person();
      const begun = await fixture.gateway.call(oidc.beginLink, { provider: "club" }, asPerson(person));
      const { principal } = person;
      await kill({ step: "link", principal, answer: await fixture.answerOf(begun) }, point);
      const linked = await count("from identity.external_identities where subject = $1", sub);
      assert.equal(linked, point === "after the commit" ? 1 : 0);
      await fixture.link("club", person);
      assert.equal(await count("from identity.external_identities where subject = $1", sub), 1);
    });
  }

  for (const point of ["before the commit", "after the commit"] as const) {
    test(`${point} unlinks an identity and ends the other sessions, or does neither`, async () => {
      newcomer();
      const person: Person = await fixture.person({ email: `k${++number}@example.org`, emailVerified: true });
      const { id } = await fixture.link("club", person);
      const { hash } = await fixture.session(person.userId);
      await kill({ step: "unlink", principal: person.principal, identity: id }, point);
      const isDone = point === "after the commit";
      const left = await count("from identity.external_identities where id = $1", id);
      const ended = await count(
        "from identity.sessions where token_hash = $1 and revoked_at is not null",
        hash,
      );
      assert.deepEqual([left, ended], isDone ? [0, 1] : [1, 0]);
    });
  }
});
