// A real OpenID provider (the package oidc-provider) on this machine, whose answers a test may spoil, and a browser without
// scripts that signs in there.

import { generateKeyPairSync, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Provider, { type Configuration, type JWK } from "oidc-provider";

/** Who is signed in at the provider, with the claims of the ID token. */
type ProviderPerson = { sub: string; claims?: Record<string, unknown>; amr?: string[] };
/** Answers a request in place of the provider; true when it did. */
type Interference = (request: IncomingMessage, response: ServerResponse) => boolean;

export type TestProvider = {
  issuer: string;
  /** Whoever comes next is this person, without being asked. */
  person: ProviderPerson;
  interfere: Interference | undefined;
  /** The person breaks the sign-in off. */
  cancels: boolean;
  /** Registers other addresses to come back to, as a new start of the provider does. */
  register: (redirectUris: readonly string[]) => void;
  /** Signs with another key from now on; the old one is gone. */
  rotate: () => void;
  /** Paths that were asked, the newest last. */
  asked: string[];
  stop: () => Promise<void>;
};

export const clientSecret = "secret of the client";
const claimNames = ["sub", "groups", "amr", "acr", "email", "email_verified", "preferred_username", "nested"];

/** `redirectUris`: what is registered there. */
export async function startTestProvider(redirectUris: readonly string[]): Promise<TestProvider> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let registered = redirectUris;
  const state: TestProvider = {
    issuer,
    person: { sub: "nobody" },
    interfere: undefined,
    cancels: false,
    register: (uris) => {
      registered = uris;
      state.rotate();
    },
    rotate: () => {
      provider = open(issuer, registered, () => state.person);
    },
    asked: [],
    stop: () => close(server),
  };
  let provider = open(issuer, redirectUris, () => state.person);
  server.on("request", (request, response) => {
    state.asked.push(request.url?.split("?")[0] ?? "");
    if (state.interfere?.(request, response)) return;
    if (state.cancels && request.url?.startsWith("/interaction/"))
      return void provider.interactionFinished(request, response, { error: "access_denied" });
    const [, uid] = /^\/interaction\/([^/?]+)/.exec(request.url ?? "") ?? [];
    if (uid === undefined) return void provider.callback()(request, response);
    const { sub, amr } = state.person;
    const login = { accountId: sub, ...(amr && { amr }) };
    void provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false });
  });
  return state;
}

function open(issuer: string, redirectUris: readonly string[], personOf: () => ProviderPerson): Provider {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = { ...privateKey.export({ format: "jwk" }), kid: randomUUID(), use: "sig", alg: "RS256" } as JWK;
  const configuration: Configuration = {
    clients: [
      client("confidential", redirectUris, { client_secret: clientSecret }),
      client("public", redirectUris, { token_endpoint_auth_method: "none" }),
    ],
    jwks: { keys: [key] },
    cookies: { keys: ["signs cookies of a test"] },
    scopes: ["openid", "profile", "email"],
    claims: { openid: claimNames },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: () => {
        const { amr, claims } = personOf();
        return { sub, ...(amr && { amr }), ...claims };
      },
    }),
    loadExistingGrant: async ({ oidc }) => {
      const { provider, session, client: asking } = oidc;
      const grant = new provider.Grant({
        clientId: asking?.clientId ?? "",
        accountId: session?.accountId ?? "",
      });
      grant.addOIDCScope("openid profile email");
      await grant.save();
      return grant;
    },
    renderError: (context, out) => {
      context.type = "json";
      context.body = out;
    },
  };
  return new Provider(issuer, configuration);
}

function client(id: string, redirectUris: readonly string[], more: Record<string, string>) {
  return {
    client_id: id,
    redirect_uris: [...redirectUris],
    grant_types: ["authorization_code"],
    response_types: ["code" as const],
    scope: "openid profile email",
    ...more,
  };
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
}

export type Returned = { provider: string; state: string; code: string; iss?: string };

/** Follows the redirects of the provider as a new browser, and returns what it is sent back with. */
export async function visitProvider(url: string): Promise<Returned> {
  const cookies = new Map<string, string>();
  let next = url;
  for (let step = 0; step < 10; step++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(next, { redirect: "manual", headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location === null)
      throw new Error(`the provider answered ${response.status}: ${await response.text()}`);
    next = new URL(location, next).href;
    const { pathname, searchParams } = new URL(next);
    const [, provider] = /^\/login\/oidc\/([^/]+)$/.exec(pathname) ?? [];
    if (provider !== undefined) return { provider, ...Object.fromEntries(searchParams) } as Returned;
  }
  throw new Error("the provider redirects for ever");
}
