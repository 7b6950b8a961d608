// People with passkeys who call the endpoints of a fixture.

import type { CallOptions } from "@svc/mesh";
import { type AccountPrincipal, passkeys } from "@svc/proto";
import {
  type Algorithm,
  type Authenticator,
  createAuthenticator,
  type Forgery,
  type RequestOptions,
} from "./authenticator.ts";
import type { Fixture, NewPerson, Person } from "./fixture.ts";

/** The panel of a fixture, the only host of its passkeys. */
export const panel = { origin: "https://console.svc.localhost", rpId: "console.svc.localhost" };

export type Holder = Person & { email: string; device: Authenticator };
export type Ceremony = "login" | "discoverable" | "reauth";
type Begun = { options: RequestOptions; loginId: string };

let number = 0;

/** Every call comes from its own network, so that limits in one test do not affect another. */
export function stranger(): CallOptions {
  number += 1;
  const address = `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
  return { principal: { kind: "anonymous" }, client: { address, userAgent: "browser" } };
}

/** `fixtureOf` is called lazily: a suite creates its people before its fixture has started. */
export function createPasskeyPeople(fixtureOf: () => Fixture) {
  const as = (person: { principal: AccountPrincipal }): CallOptions => ({
    ...stranger(),
    principal: person.principal,
  });
  const call: Fixture["gateway"]["call"] = (contract, input, options) =>
    fixtureOf().gateway.call(contract, input, options);
  const newDevice = (algorithm: Algorithm = "ES256", isCounting = true) =>
    createAuthenticator({ origin: panel.origin, algorithm, isCounting });

  const beginRegister = async (person: Person) =>
    (await call(passkeys.beginRegister, {}, as(person))) as unknown as {
      challenge: string;
      rp: { id: string };
      user: { id: string };
    };
  const register = async (person: Person, device: Authenticator, name?: string) => {
    const attestation = device.register(await beginRegister(person));
    return call(passkeys.finishRegister, { attestation, ...(name !== undefined && { name }) }, as(person));
  };
  /** A person with a verified address and one passkey, in a session with a fresh proof. */
  const holder = async (about: NewPerson & { algorithm?: Algorithm; isCounting?: boolean } = {}) => {
    const { algorithm, isCounting, ...rest } = about;
    const email = `holder${++number}@example.org`;
    const person = await fixtureOf().person({ email, emailVerified: true, ...rest });
    const device = newDevice(algorithm, isCounting);
    await register(person, device);
    return { ...person, email, device };
  };

  const begin = async (ceremony: Ceremony, who: Holder): Promise<Begun> => {
    if (ceremony === "login") {
      const options = await call(passkeys.beginLogin, { email: who.email }, stranger());
      return { options: options as RequestOptions, loginId: "" };
    }
    if (ceremony === "discoverable") {
      const { publicKey, login_id } = await call(passkeys.beginDiscoverable, {}, stranger());
      return { options: publicKey as RequestOptions, loginId: login_id };
    }
    const { publicKey } = await call(passkeys.beginReauth, {}, as(who));
    return { options: publicKey as RequestOptions, loginId: "" };
  };
  /** The input of `finish`. */
  const ending = (ceremony: Ceremony, who: Holder, about: { loginId: string; assertion: unknown }) => {
    const assertion = about.assertion as Record<string, unknown>;
    if (ceremony === "login") {
      return { contract: passkeys.finishLogin, input: { email: who.email, assertion }, options: stranger() };
    }
    if (ceremony === "discoverable") {
      const input = { login_id: about.loginId, assertion };
      return { contract: passkeys.finishDiscoverable, input, options: stranger() };
    }
    return { contract: passkeys.finishReauth, input: { assertion }, options: as(who) };
  };
  /** Undefined when the ceremony succeeded, else the name of the fault. */
  const finish = async (
    ceremony: Ceremony,
    who: Holder,
    about: { loginId: string; assertion: unknown },
  ): Promise<string | undefined> => {
    const { contract, input, options } = ending(ceremony, who, about);
    const ended = await fixtureOf()
      .gateway.call(contract as typeof passkeys.finishReauth, input as never, options)
      .catch((error: { fault?: string }) => error.fault ?? String(error));
    return typeof ended === "string" ? ended : undefined;
  };
  /** A complete ceremony; the device may forge its response. */
  const pass = async (ceremony: Ceremony, who: Holder, forgery: Forgery = {}) => {
    const { options, loginId } = await begin(ceremony, who);
    return finish(ceremony, who, { loginId, assertion: who.device.assert(options, forgery) });
  };
  return { as, newDevice, beginRegister, register, holder, begin, finish, pass };
}
