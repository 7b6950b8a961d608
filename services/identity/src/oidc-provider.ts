// `[[identity.oidc_provider]]` of the configuration (docs/reference/settings.md): OpenID providers with which people sign in.

import { readFileSync } from "node:fs";
import { z } from "zod";

const line = z
  .string()
  .trim()
  .min(1)
  .max(64)
  .regex(/^\P{C}*$/u, "must be visible characters");
const text = z.string().min(1).max(256);
const domain = z
  .string()
  .toLowerCase()
  .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, "must be a domain such as example.org");

const roleRule = z.strictObject({
  /** Name of a claim of the ID token, or a path such as `realm_access.roles`. */
  claim: text,
  /** What it must be, or contain as one of a list. */
  value: text,
  /** The role that it gives. */
  role: z.literal("admin"),
});

const oidcProvider = z
  .strictObject({
    /** Names the provider in addresses and logs. */
    id: z.string().regex(/^[a-z0-9-]{1,32}$/, "must be 1 to 32 of a-z, 0-9 and -"),
    /** The issuer exactly as the provider names itself. */
    issuer: z.string().refine(isIssuer, "must be a URL without user, query and fragment"),
    /** Id of this installation at the provider. */
    client_id: text,
    /** File with the client secret. */
    client_secret_file: z.string().default(""),
    /** Name of the environment variable that holds the client secret; the file goes before it. */
    client_secret_ref: z.string().default(""),
    /** How the secret is sent; `none` for a public client, which has no secret. */
    client_auth: z.enum(["basic", "post", "none"]).default("basic"),
    /** Name on the button, in English. */
    name_en: line,
    /** Name on the button, in Chinese; empty = the English one. */
    name_zh: z.union([z.literal(""), line]).default(""),
    /** What is asked of the provider; `openid` is always asked. */
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/))
      .default(["openid", "profile", "email"]),
    /** Whether somebody without an account gets one. */
    allow_sign_up: z.boolean().default(false),
    /** Domains of verified addresses that may sign up; empty = all. */
    sign_up_domains: z.array(domain).default([]),
    /** Which claims make somebody an admin. */
    roles: z.array(roleRule).default([]),
    /** Values of the claim `amr` that prove a second factor; staff need one of them or of `staff_acr`. */
    staff_amr: z.array(text).default([]),
    /** Values of the claim `acr` that prove a second factor. */
    staff_acr: z.array(text).default([]),
  })
  .superRefine((provider, context) => {
    const complain = (key: string, message: string) =>
      context.addIssue({ code: "custom", path: [key], message });
    const hasSecret = provider.client_secret_file !== "" || provider.client_secret_ref !== "";
    if (provider.client_auth === "none" && hasSecret)
      complain("client_auth", "a public client has no secret");
    if (provider.client_auth !== "none" && !hasSecret)
      complain("client_secret_file", "is required, or client_secret_ref, or client_auth = none");
    if (provider.roles.length > 0 && !takesStaff(provider))
      complain("roles", "need staff_amr or staff_acr: admins sign in with a second factor");
  });
export type OidcProvider = z.output<typeof oidcProvider>;

/** The providers in the order in which they are shown. */
export const oidcProviders = z
  .array(oidcProvider)
  .default([])
  .superRefine((providers, context) => {
    for (const key of ["id", "issuer"] as const) {
      const seen = new Set<string>();
      for (const [index, provider] of providers.entries()) {
        if (seen.has(provider[key]))
          context.addIssue({ code: "custom", path: [index, key], message: "is a duplicate" });
        seen.add(provider[key]);
      }
    }
  });

/** Whether staff can sign in with it: only with a second factor that the provider vouches for. */
function takesStaff({ staff_amr, staff_acr }: Pick<OidcProvider, "staff_amr" | "staff_acr">): boolean {
  return staff_amr.length + staff_acr.length > 0;
}

function isIssuer(address: string): boolean {
  const url = URL.parse(address);
  if (!url || !/^https?:$/.test(url.protocol)) return false;
  return url.username === "" && url.password === "" && url.search === "" && url.hash === "";
}

/** Whether an address may be asked: https, or http on this machine where that is allowed. */
export function isSafeAddress(address: string, { isLocal }: { isLocal: boolean }): boolean {
  const url = URL.parse(address);
  if (url?.username !== "" || url.password !== "") return false;
  if (url.protocol === "https:") return true;
  const isLoopback = /^(127(\.\d+){3}|\[::1\]|(.+\.)?localhost)$/.test(url.hostname);
  return isLocal && url.protocol === "http:" && isLoopback;
}

/** The client secret; undefined for a public client. Throws when it cannot be read or is empty. */
export function readClientSecret(
  provider: OidcProvider,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const { id, client_auth, client_secret_file: file, client_secret_ref: name } = provider;
  if (client_auth === "none") return undefined;
  const secret = (file === "" ? (env[name] ?? "") : readFileSync(file, "utf8")).trim();
  if (secret === "") throw new Error(`oidc_provider ${id}: the client secret is empty`);
  return secret;
}
