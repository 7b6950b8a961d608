// Tables of the schema `identity` as kysely sees them; a test compares them with the live schema.

import type { FaceHost, Role, sshKeys } from "@svc/proto";
import type { Db, Trx } from "@svc/store";
import type { ColumnType, Generated } from "kysely";

type At = ColumnType<Date, Date, Date>;
type MaybeAt = ColumnType<Date | null, Date | null | undefined, Date | null>;
type DefaultAt = ColumnType<Date, Date | undefined, Date>;
type Json = ColumnType<unknown, string, string>;

export type UsersTable = {
  id: string;
  username: string;
  email: string | null;
  role: Generated<"owner" | "admin" | "user">;
  email_verified: Generated<boolean>;
  disabled: Generated<boolean>;
  deleted_at: MaybeAt;
  created_at: DefaultAt;
  updated_at: DefaultAt;
  language: Generated<"en" | "zh">;
  password_hash: string | null;
  /** Made by the database: name and address in lower case. */
  search: ColumnType<string, never, never>;
};

/** A deleted user whose servers lifecycle has yet to release. */
type DeletionsTable = { user_id: string; requested_at: At; next_at: At; released_at: MaybeAt };

export type LinksTable = {
  user_id: string;
  mc_uuid: string;
  verified_at: DefaultAt;
  auth_source: Generated<"mojang" | "thirdparty">;
};

type QuotasTable = {
  user_id: string;
  max_servers: number | null;
  max_cpu_milli: number | null;
  max_memory_mb: number | null;
  max_storage_gb: number | null;
  updated_at: DefaultAt;
  updated_by: string | null;
};

/** Which door a session came through; `host` is the person who holds the database. */
export type SessionDoor = "setup" | "passkey" | "email" | "bind" | "op_login" | "password" | "host" | "oidc";

export type SessionsTable = {
  token_hash: string;
  user_id: string;
  door: SessionDoor;
  host: Generated<FaceHost>;
  created_at: At;
  expires_at: At;
  revoked_at: MaybeAt;
  user_agent: Generated<string>;
  client_ip: Generated<string>;
  last_seen_at: At;
  reauth_at: MaybeAt;
};

type SetupTokensTable = {
  token_hash: string;
  user_id: string;
  expires_at: At;
  consumed_at: MaybeAt;
  created_at: At;
};

export const codePurposes = ["onboard_email", "op_login", "reauth", "migrate_confirm", "sign_in"] as const;
/** What a mailed code is for; each purpose has codes of its own. */
export type CodePurpose = (typeof codePurposes)[number];

export type CodesTable = {
  id: string;
  user_id: string;
  email: string;
  code_hash: string;
  purpose: CodePurpose;
  attempts: Generated<number>;
  expires_at: At;
  consumed_at: MaybeAt;
  created_at: At;
};

type FailureWindowsTable = {
  user_id: string;
  purpose: string;
  window_start: At;
  failures: number;
};

type ReservationsTable = { key: string; free_at: At; expires_at: MaybeAt };

type PlatformSettingsTable = { key: string; value: Json; updated_at: DefaultAt };

export type AuditLogsTable = {
  id: Generated<number>;
  entry_id: string;
  actor: string;
  source: string;
  action: string;
  server_name: string | null;
  request_id: string | null;
  payload: Json;
  created_at: At;
  actor_user_id: string | null;
  client_ip: string | null;
  user_agent: string | null;
};

type BudgetTable = { key: string; tokens: number; refilled_at: At };

type NoticesTable = {
  id: Generated<number>;
  kind: string;
  recipient: string;
  facts: Json;
  attempts: Generated<number>;
  next_at: At;
  created_at: At;
  language: Generated<"en" | "zh">;
};

type OpLoginsTable = {
  id: string;
  user_id: string;
  email: string;
  attempts: Generated<number>;
  expires_at: At;
  created_at: At;
  consumed_at: MaybeAt;
  approved_at: MaybeAt;
  approved_by: string | null;
  client_ip: Generated<string>;
  user_agent: Generated<string>;
};

/** A command line that waits, or waited, for an approval. */
export type CliLoginsTable = {
  secret_hash: string;
  code_hash: string;
  host: FaceHost;
  network: string;
  client_ip: string;
  user_agent: string;
  created_at: At;
  expires_at: At;
  decision: "approve" | "refuse" | null;
  decided_by: string | null;
  /** Role and session (sha-256 of its cookie) of the approver at the approval. */
  decided_role: Role | null;
  decided_session: string | null;
  consumed_at: MaybeAt;
};

/** Who may call with a secret instead of a session; `servers` null: all of the account. */
export type ApiTokensTable = {
  id: string;
  user_id: string;
  name: string;
  token_hash: string;
  rights: string[];
  servers: string[] | null;
  created_at: At;
  expires_at: At;
  revoked_at: MaybeAt;
  last_used_at: MaybeAt;
  last_used_ip: ColumnType<string | null, string | null | undefined, string | null>;
  /** Of a session of SFTP: the key that opened it. */
  ssh_key_id: ColumnType<string | null, string | null | undefined, string | null>;
};

export type SshKeysTable = {
  id: string;
  user_id: string;
  name: string;
  type: sshKeys.SshKey["type"];
  public_key: string;
  fingerprint: string;
  created_at: At;
  last_used_at: MaybeAt;
  last_used_ip: ColumnType<string | null, string | null | undefined, string | null>;
};

/** Where SFTP is reached. */
type SftpEndpointTable = {
  id: number;
  host: string;
  port: number;
  fingerprint: string;
  seen_at: At;
};

/** Who somebody is at an OpenID provider. */
export type ExternalIdentitiesTable = {
  id: string;
  user_id: string;
  issuer: string;
  subject: string;
  label: string;
  /** The account has its role because of the claims of this identity. */
  gave_admin: Generated<boolean>;
  created_at: At;
  last_used_at: MaybeAt;
};

/** A browser that was sent to a provider; with `user_id` and `session` to link an identity. */
export type OidcLoginsTable = {
  state_hash: string;
  secret_hash: string;
  issuer: string;
  host: FaceHost;
  nonce: string;
  verifier: string;
  user_id: string | null;
  session: string | null;
  network: string;
  created_at: At;
  expires_at: At;
};

type MissesTable = { slot: number; tries: Generated<number>; last_at: At };

export type LinkCodesTable = {
  code_hash: string;
  mc_uuid: string;
  auth_source: "mojang" | "thirdparty";
  expires_at: At;
  created_at: At;
};

type BlacklistTable = {
  mc_uuid: string;
  username: string;
  reason: Generated<string>;
  blacklisted_at: At;
};

export type HoldsTable = {
  id: string;
  mc_uuid: string;
  username: string;
  data_ref: string | null;
  held_at: At;
  expires_at: At;
  reclaimed_by_user_id: string | null;
  reclaimed_at: MaybeAt;
};

export type AccountMigrationsTable = {
  id: string;
  source_user_id: string;
  target_user_id: string | null;
  state: "initiated" | "confirmed" | "code_issued" | "redeeming" | "redeemed";
  confirm_factor: "passkey" | "email_otp" | null;
  confirmed_at: MaybeAt;
  /** sha-256 of the cookie of the session that confirmed. */
  confirm_session: string | null;
  code_hash: string | null;
  code_expires_at: MaybeAt;
  leased_until: MaybeAt;
  servers: ColumnType<string[] | null, string | null | undefined, string | null>;
  told_at: MaybeAt;
  redeemed_at: MaybeAt;
  created_at: At;
  updated_at: At;
};

export type CredentialsTable = {
  id: string;
  user_id: string;
  credential_id: string;
  /** base64 of the COSE key. */
  public_key: string;
  sign_count: number;
  aaguid: string;
  name: string;
  user_verified: boolean;
  backup_eligible: boolean;
  backup_state: boolean;
  transports: string[];
  created_at: At;
  last_used_at: MaybeAt;
};

/** What a passkey ceremony is for; a challenge of one purpose is worth nothing at another. */
export type ChallengePurpose = "register" | "login" | "discoverable" | "reauth" | "migrate";

export type ChallengesTable = {
  id: string;
  user_id: string | null;
  purpose: ChallengePurpose;
  challenge: string;
  session: string | null;
  source: string | null;
  created_at: At;
  expires_at: At;
  consumed_at: MaybeAt;
};

export type Tables = {
  users: UsersTable;
  user_deletions: DeletionsTable;
  account_links: LinksTable;
  quotas: QuotasTable;
  sessions: SessionsTable;
  api_tokens: ApiTokensTable;
  ssh_keys: SshKeysTable;
  sftp_endpoint: SftpEndpointTable;
  external_identities: ExternalIdentitiesTable;
  oidc_logins: OidcLoginsTable;
  setup_tokens: SetupTokensTable;
  email_otps: CodesTable;
  otp_failure_windows: FailureWindowsTable;
  otp_reservations: ReservationsTable;
  platform_settings: PlatformSettingsTable;
  audit_logs: AuditLogsTable;
  sign_in_budgets: BudgetTable;
  mail_budgets: BudgetTable;
  mail_notices: NoticesTable;
  op_login_requests: OpLoginsTable;
  cli_logins: CliLoginsTable;
  account_link_codes: LinkCodesTable;
  username_blacklist: BlacklistTable;
  player_data_holds: HoldsTable;
  account_migrations: AccountMigrationsTable;
  sign_in_misses: MissesTable;
  webauthn_credentials: CredentialsTable;
  webauthn_challenges: ChallengesTable;
};

export type IdentityDb = Db<Tables>;
export type IdentityTrx = Trx<Tables>;
