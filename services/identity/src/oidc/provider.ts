// One OpenID provider as openid-client speaks to it: addresses and keys are kept for a while, and every ID token is verified.

import * as client from "openid-client";
import type { Limits } from "../config.ts";
import { isSafeAddress, type OidcProvider } from "../oidc-provider.ts";
import { boundedFetch, ProviderDown } from "./bounded-fetch.ts";
import type { Claims } from "./policy.ts";

/** What a login keeps until the browser is back. */
export type Challenge = { state: string; nonce: string; verifier: string };
type Answer = { code: string; iss?: string | undefined };

export type Provider = {
  settings: OidcProvider;
  /** The address at which a person signs in. Throws `ProviderDown`. */
  addressFor: (challenge: Challenge, redirectUri: string) => Promise<string>;
  /** Redeems a code. Throws `ProviderDown`, or anything else when the answer is not accepted. */
  redeem: (
    answer: Answer,
    challenge: Challenge,
    redirectUri: string,
  ) => Promise<{ subject: string; claims: Claims }>;
};

type Needs = {
  settings: OidcProvider;
  secret: string | undefined;
  limits: Pick<Limits, "oidc_timeout" | "oidc_bytes" | "oidc_keep">;
  /** http is allowed to this machine. */
  isLocal: boolean;
};

type Kept = { config: Promise<client.Configuration>; until: number };

const failedForMs = 2_000;

/** The addresses are asked for when they are first needed, so that a provider that is away stops nothing else. */
export function createProvider({ settings, secret, limits, isLocal }: Needs): Provider {
  const discover = createDiscovery({ settings, secret, limits, isLocal });
  let kept: Kept | undefined;
  const getConfig = (): Promise<client.Configuration> => {
    if (kept && kept.until > performance.now()) return kept.config;
    const config = discover();
    kept = { config, until: performance.now() + limits.oidc_keep };
    const own = kept;
    // Whoever comes within that time need not wait for the next failure.
    config.catch(() => {
      own.until = performance.now() + failedForMs;
    });
    return config;
  };
  return {
    settings,
    addressFor: async ({ state, nonce, verifier }, redirectUri) => {
      const url = client.buildAuthorizationUrl(await getConfig(), {
        redirect_uri: redirectUri,
        scope: [...new Set(["openid", ...settings.scopes])].join(" "),
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      });
      return url.href;
    },
    redeem: async (answer, challenge, redirectUri) => {
      const config = await getConfig();
      try {
        return await redeem(config, { answer, challenge, redirectUri });
      } catch (error) {
        // It may have moved or taken other keys.
        kept = undefined;
        throw downIn(error) ?? error;
      }
    },
  };
}

function createDiscovery({ settings, secret, limits, isLocal }: Needs): () => Promise<client.Configuration> {
  const { issuer, client_id: clientId, client_auth: auth } = settings;
  const authentication = {
    basic: () => client.ClientSecretBasic(secret),
    post: () => client.ClientSecretPost(secret),
    none: () => client.None(),
  }[auth]();
  const fetch = boundedFetch({ timeoutMs: limits.oidc_timeout, bytes: limits.oidc_bytes, isLocal });
  return async () => {
    try {
      const config = await client.discovery(new URL(issuer), clientId, undefined, authentication, {
        [client.customFetch]: fetch as client.CustomFetch,
        timeout: limits.oidc_timeout / 1_000,
        execute: [
          client.enableNonRepudiationChecks,
          // The addresses are checked by the fetch.
          ...(isLocal ? [client.allowInsecureRequests] : []),
        ],
      });
      assertUsable(config.serverMetadata(), { issuer, isLocal });
      return config;
    } catch (error) {
      throw downIn(error) ?? new ProviderDown((error as Error).message, { cause: error });
    }
  };
}

/** openid-client takes an issuer that differs by a slash, and knows exceptions for some products. */
function assertUsable(
  found: client.ServerMetadata,
  { issuer, isLocal }: { issuer: string; isLocal: boolean },
): void {
  if (found.issuer !== issuer) throw new ProviderDown(`the provider names itself ${found.issuer}`);
  for (const key of ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const) {
    const address = found[key];
    if (typeof address !== "string" || !isSafeAddress(address, { isLocal }))
      throw new ProviderDown(`${key} of the provider is not an https address`);
  }
}

type Redemption = { answer: Answer; challenge: Challenge; redirectUri: string };

async function redeem(config: client.Configuration, { answer, challenge, redirectUri }: Redemption) {
  const back = new URL(redirectUri);
  back.searchParams.set("code", answer.code);
  back.searchParams.set("state", challenge.state);
  if (answer.iss !== undefined) back.searchParams.set("iss", answer.iss);
  const tokens = await client.authorizationCodeGrant(config, back, {
    pkceCodeVerifier: challenge.verifier,
    expectedState: challenge.state,
    expectedNonce: challenge.nonce,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (!claims || claims.sub === "") throw new Error("the ID token names nobody");
  return { subject: claims.sub, claims: claims as Claims };
}

function downIn(error: unknown): ProviderDown | undefined {
  let found = error;
  for (let depth = 0; depth < 5 && found instanceof Error; depth++) {
    if (found instanceof ProviderDown) return found;
    found = found.cause;
  }
  return undefined;
}
