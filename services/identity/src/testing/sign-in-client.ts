// A client of the public sign-in endpoints of a fixture: requests and enters codes, and reads mails and audit entries.

import { signIn } from "@svc/proto";
import type { Fixture, NewPerson } from "./fixture.ts";

const minute = 60_000;
let number = 0;

export const newAddress = () => `mail${++number}@example.org`;
export const anonymous = { kind: "anonymous" } as const;
export const wrong = (code: string) => (code === "000000" ? "000001" : "000000");

/** `fixtureOf` is called lazily: a suite creates its client before its fixture has started. */
export function createSignInClient(fixtureOf: () => Fixture) {
  const client = () => ({ address: `198.51.100.${++number % 250}`, userAgent: "browser" });
  const options = () => ({ principal: anonymous, client: client() });
  const start = (email: string) => fixtureOf().gateway.call(signIn.startEmail, { email }, options());
  const verify = (email: string, code: string) =>
    fixtureOf().gateway.forward(signIn.verifyEmail, { email, code }, options());
  const refused = async (email: string, code: string) =>
    (await fixtureOf().refused(signIn.verifyEmail, { email, code }, options())).fault;
  const holder = async (about: NewPerson = {}) => {
    const email = newAddress();
    return { email, person: await fixtureOf().person({ email, emailVerified: true, ...about }) };
  };
  const mailed = async (about: NewPerson = {}) => {
    const given = await holder(about);
    await start(given.email);
    await fixtureOf().smtp.awaitMail(given.email);
    return { ...given, code: fixtureOf().smtp.codeTo(given.email) };
  };
  /** The codes of `count` mails, a minute apart, oldest first. */
  const several = async (count: number) => {
    const { email, person, code } = await mailed();
    const codes = [code];
    while (codes.length < count) {
      fixtureOf().pass(minute);
      await start(email);
      await fixtureOf().smtp.awaitMail(email, codes.length + 1);
      codes.push(fixtureOf().smtp.codeTo(email));
    }
    return { email, person, codes };
  };
  const auditOf = async (action: string) =>
    (
      await fixtureOf().database.admin("select * from identity.audit_logs where action = $1 order by id", [
        action,
      ])
    ).map(({ payload, actor_user_id }) => ({ payload, actor_user_id }));
  /** Nothing was mailed, and everything that a start triggers has ended. */
  const settled = async (email: string) => {
    const mark = await holder();
    await start(mark.email);
    await fixtureOf().smtp.awaitMail(mark.email);
    return fixtureOf().smtp.mails.filter(({ to }) => to === email).length;
  };
  return { options, start, verify, refused, holder, mailed, several, auditOf, settled };
}
