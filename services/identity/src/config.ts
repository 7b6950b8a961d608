// Settings of identity (docs/reference/settings.md). Sections shared with other services accept all their keys.

import { duration, parseDuration, section, size } from "@svc/config";
import type { FaceHost } from "@svc/proto";
import { smtpSection } from "@svc/smtp";
import { z } from "zod";
import { authSources, httpUrl, isLocalProfile } from "./auth-source.ts";
import { isSafeAddress, type OidcProvider, oidcProviders, readClientSecret } from "./oidc-provider.ts";

const day = 86_400_000;

/** A span, or `forever` as null. */
const auditRetention = z
  .string()
  .default("365d")
  .transform((text, context) => {
    if (text.trim() === "forever") return null;
    const spanMs = parseDuration(text.trim());
    if (spanMs !== undefined && spanMs >= 30 * day) return spanMs;
    context.addIssue({ code: "custom", message: "must be forever or a span of at least 30d, such as 365d" });
    return z.NEVER;
  });

const optionalUrl = (fallback: string) => z.union([z.literal(""), httpUrl]).default(fallback);
const count = (fallback: number) => z.number().int().min(1).default(fallback);

const identity = section({
  /** Lifetime of a session. */
  session_ttl: duration("12h"),
  /** A staff session without a request for this long has ended. */
  staff_idle: duration("30m"),
  /** When a session was last seen, or an API token used, is written at most this often. */
  last_seen_every: duration("1m"),
  /** Sessions listed of one account, the newest. */
  session_list_limit: count(500),
  /** Longest lifetime of an API token. */
  api_token_longest: duration("366d"),
  /** API tokens that are valid at once for one account. */
  api_tokens_per_account: count(50),
  /** SSH keys that one account may have. */
  ssh_keys_per_account: count(20),
  /** Longest time that a connection of SFTP is open. */
  ssh_session_ttl: duration("12h"),
  /** Connections of SFTP of one account at once; the oldest one ends for the next. */
  ssh_sessions_per_account: count(32),
  /** Lifetime of the setup link. */
  setup_token_ttl: duration("30m"),
  /** File for the setup link of the first owner; without it no link is created at start. */
  setup_url_file: z.string().default(""),
  /** How long a proof counts. */
  reauth_ttl: duration("5m"),
  /** Lifetime of a mailed code. */
  otp_ttl: duration("10m"),
  /** Tries for each mailed code. */
  otp_tries: count(5),
  /** How many of the newest codes of an address are accepted at the public endpoints. */
  otp_live_codes: count(3),
  /** Pause between two codes to one address. */
  otp_resend: duration("60s"),
  /** Wrong codes of one account after which its mailed codes are locked. */
  otp_lock_failures: count(10),
  /** Time in which these are counted, and until which after the first one they stay locked. */
  otp_lock_window: duration("24h"),
  /** Sign-in requests of one IPv4 address or IPv6 /64 at once. */
  sign_in_burst: count(20),
  /** Sign-in requests that come back to it each minute. */
  sign_in_per_minute: count(20),
  /** Code attempts of one signed-in account, right ones included, over all its code fields. */
  code_burst: count(20),
  /** Code attempts that come back to it each minute. */
  code_per_minute: count(20),
  /** Rejected codes of one account at one endpoint are one audit entry with a count within this interval. */
  refusal_audit_every: duration("10m"),
  /** At most one audit entry about a rate-limited address within this interval. */
  rate_limit_audit_every: duration("1m"),
  /** How many pending operator logins are listed in the game. */
  op_login_list_limit: count(100),
  /** How long a command line waits for an approval in the browser. */
  cli_login_ttl: duration("10m"),
  /** Command lines of one network that may wait at once. */
  cli_logins_per_network: count(10),
  /** OpenID providers with which people sign in ([keys](../guide/sign-in-providers.md)). */
  oidc_provider: oidcProviders,
  /** How long a browser may stay at an OpenID provider. */
  oidc_login_ttl: duration("10m"),
  /** Browsers of one network that may be at OpenID providers at once. */
  oidc_logins_per_network: count(64),
  /** Time within which an OpenID provider must answer. */
  oidc_timeout: duration("5s"),
  /** Largest answer of an OpenID provider. */
  oidc_bytes: size("256Ki"),
  /** How long the addresses and keys of an OpenID provider are kept. */
  oidc_keep: duration("10m"),
  /** Identities at OpenID providers that one account may have. */
  oidc_links_per_account: count(10),
  /** A role that claims gave is taken away when its holder has not signed in with the provider for this long. */
  oidc_role_keep: duration("7d"),
  /** How often such roles are looked for. */
  oidc_role_check: duration("15m"),
  /** Lifetime of a session from the password endpoint. */
  password_session_ttl: duration("12h"),
  /** Password attempts for one user name, right ones included. */
  password_burst: count(10),
  /** Password attempts that come back to it each hour. */
  password_per_hour: count(10),
  /** Lifetime of a bind code. */
  bind_code_ttl: duration("10m"),
  /** How many bind codes of one player are valid at once; a new one replaces the oldest. */
  bind_codes_per_player: count(5),
  /** How long the data of a barred player is held. */
  hold_ttl: duration("30d"),
  /** How long the confirmation of a server transfer counts. */
  migration_confirm_ttl: duration("10m"),
  /** Lifetime of the code of a server transfer. */
  migration_code_ttl: duration("10m"),
  /** How long one process may work on a redemption before another resumes it. */
  migration_lease: duration("30s"),
  /** How often an unfinished redemption is resumed. */
  migration_retry: duration("15s"),
  /** hasJoined of the identity source; empty = none, in the local profile only. */
  mojang_session_url: optionalUrl("https://sessionserver.mojang.com/session/minecraft/hasJoined"),
  /** Profile lookup by name of the identity source; the name is appended. Empty = every name is free. */
  mojang_profile_url: optionalUrl("https://api.minecraftservices.com/minecraft/profile/lookup/name/"),
  /** Time within which a session server must answer. */
  session_source_timeout: duration("5s"),
  /** Largest answer of a session server. */
  session_source_bytes: size("64Ki"),
  /** Mails to one recipient, separately by public and by signed-in endpoints. */
  mail_recipient_burst: count(10),
  /** Mails that come back to a recipient each hour. */
  mail_recipient_per_hour: count(20),
  /** The share of the installation's mails that one client address or one account may use. */
  mail_caller_share: z.number().gt(0).max(1).default(0.7),
  /** Mails reserved for operator logins and the watchdog while the common budget is used up. */
  mail_reserve_burst: count(6),
  /** Mails that come back to the reserve each hour. */
  mail_reserve_per_hour: count(12),
  /** Longest time of one mail at the relay. */
  mail_timeout: duration("20s"),
  /** How often mails that wait for the relay are tried again; the pause doubles with each attempt. */
  notice_every: duration("30s"),
  /** A mail that could not be sent for this long is dropped. */
  notice_keep: duration("3d"),
  /** Lifetime of a passkey challenge. */
  passkey_challenge_ttl: duration("5m"),
  /** Open ceremonies at one sign-in endpoint from one network. */
  passkey_challenges_per_network: count(32),
  /** Open ceremonies without an address in all. */
  passkey_challenges: count(16_384),
  /** Challenges of one signed-in account and purpose; a new one replaces the oldest. */
  passkey_challenges_per_account: count(10),
  /** Passkeys that one account may have. */
  passkeys_per_account: count(50),
  /** When lifecycle is asked again to release a deleted user's servers. */
  deletion_retry: duration("15s"),
  /** Time from the start until expired data is first deleted. */
  retention_first: duration("1m"),
  /** How often expired data is deleted. */
  retention_every: duration("1h"),
  /** How long sessions, codes and setup links are kept after they expired. */
  expired_keep: duration("30d"),
});

const sections = z.strictObject({
  server: section({
    listen: z.string().optional(),
    root_domain: z.string().regex(/\./, "must be a domain with a dot in it").default("svc.localhost"),
  }),
  auth: section({
    admin_hostname: z.string().optional(),
    panel_hostname: z.string().optional(),
    access_jwt_aud: z.string().optional(),
    client_ip_header: z.string().optional(),
    extra_origins: z.array(z.url()).default([]),
  }),
  smtp: smtpSection,
  audit: section({
    /** How long audit entries are kept: at least `30d`, or `forever`. */
    retention: auditRetention,
  }),
  auth_source: authSources,
  identity,
});
// Accepting every name without authentication is only for a machine that nobody else can reach.
export const settings = sections.superRefine((given, context) => {
  const { server, auth_source, identity: own } = given;
  const isLocal = isLocalProfile(server.root_domain);
  for (const [index, { issuer }] of own.oidc_provider.entries()) {
    if (!isSafeAddress(issuer, { isLocal }))
      context.addIssue({
        code: "custom",
        path: ["identity", "oidc_provider", index, "issuer"],
        message: "must be https",
      });
  }
  if (isLocal) return;
  const message = "is for the local profile only, whose root_domain ends in .localhost";
  for (const [index, source] of auth_source.entries()) {
    if (source.kind === "local")
      context.addIssue({ code: "custom", path: ["auth_source", index, "kind"], message });
  }
  for (const key of ["mojang_session_url", "mojang_profile_url"] as const) {
    if (own[key] === "")
      context.addIssue({ code: "custom", path: ["identity", key], message: `empty ${message}` });
  }
});
export type Settings = z.output<typeof settings>;

/** Every limit of this service in one object; spans in milliseconds. */
export type Limits = Settings["identity"];

/** Mails an hour and how many of them at once (docs/reference/settings.md). */
export function mailBudget({ smtp: mail }: Settings): { perHour: number; burst: number } {
  const perHour = mail.max_per_hour === 0 ? 120 : mail.max_per_hour;
  return { perHour, burst: Math.max(Math.floor(perHour / 4), 5) };
}

/** Origin of the operator console: one of the local profile's own, else https on its host. */
export function adminOrigin({ auth, server }: Settings): string {
  return originOf(auth.admin_hostname ?? `op.console.${server.root_domain}`, auth.extra_origins);
}

/** Origin of the panel, only when its host is configured (docs/reference/links.md#bind-code). */
export function panelOrigin({ auth }: Settings): string | undefined {
  return auth.panel_hostname && originOf(auth.panel_hostname, auth.extra_origins);
}

/** Origin of a host of the external face; undefined for the players' where none is configured. */
export function faceOrigin(settings: Settings, host: FaceHost): string | undefined {
  const { auth, server } = settings;
  if (host === "operator") return adminOrigin(settings);
  const panel = auth.panel_hostname ?? `console.${server.root_domain}`;
  return panel === "" ? undefined : originOf(panel, auth.extra_origins);
}

/** The client secret of an OpenID provider. Throws when it cannot be read. */
export function clientSecretOf(provider: OidcProvider): string | undefined {
  return readClientSecret(provider, process.env);
}

function originOf(hostname: string, origins: readonly string[]): string {
  const host = hostname.toLowerCase();
  const own = origins.find((origin) => new URL(origin).hostname === host);
  return own === undefined ? `https://${host}` : new URL(own).origin;
}
