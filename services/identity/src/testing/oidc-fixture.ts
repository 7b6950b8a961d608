// Identity with two real OpenID providers, and what a person does with them.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, type InputOf, oidc } from "@svc/proto";
import type { z } from "zod";
import type { oidcProviders } from "../oidc-provider.ts";
import { type Fixture, type Person, startFixture } from "./fixture.ts";
import {
  clientSecret,
  type Returned,
  startTestProvider,
  type TestProvider,
  visitProvider,
} from "./openid-provider.ts";

const anonymous = { kind: "anonymous" } as const;
export const origin = "https://console.svc.localhost";
const origins = [origin, "https://op.console.svc.localhost"];
let number = 0;
/** Each browser is in a network of its own. */
export const newBrowser = (more: Partial<Client> = {}): Client => ({
  address: `10.${++number >> 8}.${number & 255}.7`,
  userAgent: "browser",
  ...more,
});

type Begun = { url: string; state: string; secret: string };
export type OidcFixture = Fixture & {
  /** Confidential; gives admins by the group `staff` with a second factor; nobody signs up. */
  works: TestProvider;
  /** Public; people of example.org sign up. */
  club: TestProvider;
  begin: (provider: string, client: Client) => Promise<Begun>;
  /** Comes back from the provider; `null` as session when there is none. */
  finish: (
    answer: InputOf<typeof oidc.finish>,
    client: Client,
  ) => Promise<{ body: Record<string, string>; value: string | undefined }>;
  /** The whole sign-in. */
  signIn: (provider: string, client?: Client) => ReturnType<OidcFixture["finish"]>;
  /** The whole link of an identity to an account. */
  link: (provider: string, person: Person) => Promise<oidc.LinkedIdentity>;
  answerOf: (begun: Begun) => Promise<InputOf<typeof oidc.finish>>;
};

export const asPerson = ({ principal }: Person) => ({
  principal,
  client: newBrowser({ host: principal.staff ? "operator" : "player" }),
});
const withSecret = ({ provider, code, state, iss }: Returned, { secret }: Pick<Begun, "secret">) => ({
  provider,
  code,
  state,
  secret,
  ...(iss !== undefined && { iss }),
});

export async function startOidcFixture(set: readonly string[] = []): Promise<OidcFixture> {
  await using stack = new AsyncDisposableStack();
  const urisOf = (id: string) => origins.map((host) => `${host}/login/oidc/${id}`);
  const works = stack.adopt(await startTestProvider(urisOf("works")), (provider) => provider.stop());
  const club = stack.adopt(await startTestProvider(urisOf("club")), (provider) => provider.stop());
  const dir = stack.adopt(mkdtempSync(join(tmpdir(), "svc-oidc-")), (path) =>
    rmSync(path, { recursive: true }),
  );
  const fixture = stack.adopt(
    await startFixture({ set, oidcProviders: providersOf(works, club, dir) }),
    (started) => started.stop(),
  );
  const begin = (provider: string, client: Client) =>
    fixture.gateway.call(oidc.begin, { provider }, { principal: anonymous, client });
  const answerOf = async (begun: Begun) => withSecret(await visitProvider(begun.url), begun);
  const finish: OidcFixture["finish"] = async (answer, client) => {
    const reply = await fixture.forward(oidc.finish, answer, { principal: anonymous, client });
    const body = JSON.parse(Buffer.from(reply.body).toString()) as Record<string, string>;
    return { body, value: reply.session?.value };
  };
  const owned = stack.move();
  return {
    ...fixture,
    works,
    club,
    begin,
    answerOf,
    finish,
    signIn: async (provider, client = newBrowser()) =>
      finish(await answerOf(await begin(provider, client)), client),
    link: async (provider, person) => {
      const as = asPerson(person);
      const begun = await fixture.gateway.call(oidc.beginLink, { provider }, as);
      return fixture.gateway.call(oidc.finishLink, await answerOf(begun), as);
    },
    stop: () => owned.disposeAsync(),
  };
}

function providersOf(works: TestProvider, club: TestProvider, dir: string): z.input<typeof oidcProviders> {
  const file = join(dir, "works");
  writeFileSync(file, `${clientSecret}\n`);
  return [
    {
      id: "works",
      issuer: works.issuer,
      client_id: "confidential",
      client_secret_file: file,
      name_en: "Works",
      name_zh: "公司",
      roles: [{ claim: "groups", value: "staff", role: "admin" }],
      staff_amr: ["mfa"],
    },
    {
      id: "club",
      issuer: club.issuer,
      client_id: "public",
      client_auth: "none",
      name_en: "Club",
      allow_sign_up: true,
      sign_up_domains: ["example.org"],
    },
  ];
}
