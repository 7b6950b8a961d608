import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { findText, writeFileAtomic } from "../atomic-file.ts";
import { type Layout, layout } from "./layout.ts";
import { findStackFile, writeStackFile } from "./stack-file.ts";

const tokenNames = ["velocity", "limbo", "build", "ops", "sftp"] as const;
type Tokens = Record<(typeof tokenNames)[number], string>;

export type StackSecrets = {
  /** Password of the superuser of the embedded PostgreSQL. */
  postgres: string;
  /** By service: password of its database role. */
  roles: Record<string, string>;
  /** File of `roles` as JSON, for the migrations that make the roles. */
  rolesFile: string;
  /** By user: the services, `operator` and `migrate`. */
  nats: Record<string, string>;
  /** Among the servers of a cluster of NATS. */
  natsRoutes: string;
  /** Bearer tokens of the internal face by caller. */
  tokens: Tokens;
  /** Of the registry's gate by account, and their file. */
  registry: Record<RegistryAccount, string>;
  /** Signs uploads in parts. */
  registryUploads: string;
  /** File of the secret that the host key of SFTP is derived from. */
  sftpHostKeyFile: string;
  /** Masters of the forwarding secrets, one a line, and their file; only proxy and lifecycle read it. */
  forwarding: { file: string; masters: string };
};

const registryAccounts = ["platform", "build", "prune"] as const;
type RegistryAccount = (typeof registryAccounts)[number];

/** The NATS user of the operator of the stack; in `stack.json`. */
export const operatorUser = "operator";

/** The NATS user of `svc migrate up`: only it may create and change streams. */
export const migrateUser = "migrate";

function generate(): string {
  return randomBytes(24).toString("base64url");
}

/** Reads a secret, or generates it once (0600). */
function ensureSecret(path: string): string {
  const found = findText(path)?.trim();
  if (found) return found;
  const secret = generate();
  writeFileAtomic(path, `${secret}\n`);
  return secret;
}

/** A JSON object of passwords; generates those of new names. */
function ensurePasswords(path: string, names: readonly string[]): Record<string, string> {
  const text = findText(path);
  const found: Record<string, string> = text ? JSON.parse(text) : {};
  if (names.every((name) => found[name])) return found;
  const all = { ...found, ...Object.fromEntries(names.map((name) => [name, found[name] ?? generate()])) };
  writeFileAtomic(path, `${JSON.stringify(all, null, 2)}\n`);
  return all;
}

/** All secrets of a stack, generated on the first start and kept. */
export function ensureSecrets(paths: Layout, services: readonly string[]): StackSecrets {
  for (const dir of [paths.secrets, paths.tokens]) mkdirSync(dir, { recursive: true, mode: 0o700 });
  const forwardingFile = join(paths.secrets, "forwarding-master");
  const rolesFile = join(paths.secrets, "database-roles.json");
  const sftpHostKeyFile = join(paths.secrets, "sftp-host-key");
  ensureSecret(sftpHostKeyFile);
  return {
    postgres: ensureSecret(join(paths.secrets, "postgres")),
    roles: ensurePasswords(rolesFile, services),
    rolesFile,
    sftpHostKeyFile,
    nats: ensurePasswords(join(paths.secrets, "nats.json"), [...services, operatorUser, migrateUser]),
    natsRoutes: ensureSecret(join(paths.secrets, "nats-routes")),
    tokens: ensureTokens(paths),
    registry: ensureRegistryPasswords(paths),
    registryUploads: ensureSecret(join(paths.secrets, "registry-uploads")),
    forwarding: { file: forwardingFile, masters: ensureSecret(forwardingFile) },
  };
}

/** The file that the gate reads, with one `account:password` a line; passwords that are missing are added. */
function ensureRegistryPasswords({ registryCredentials: path }: Layout): Record<RegistryAccount, string> {
  const lines = (findText(path) ?? "").split("\n").filter((line) => line !== "");
  const missing = registryAccounts.filter((name) => !lines.some((line) => line.startsWith(`${name}:`)));
  const all = [...lines, ...missing.map((name) => `${name}:${generate()}`)];
  if (missing.length > 0) writeFileAtomic(path, `${all.join("\n")}\n`);
  const passwordOf = (name: string) =>
    all.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1) ?? "";
  return { platform: passwordOf("platform"), build: passwordOf("build"), prune: passwordOf("prune") };
}

/** The tokens as their files have them now: a rotation changes them while the stack runs. */
export function ensureTokens(paths: Pick<Layout, "tokens">): Tokens {
  const token = (name: string) => ensureSecret(join(paths.tokens, name));
  return {
    velocity: token("velocity"),
    limbo: token("limbo"),
    build: token("build"),
    ops: token("ops"),
    sftp: token("sftp"),
  };
}

/**
 * Gives one caller of the internal face a new token; gateways read its file within a second. The file is written first:
 * an interrupted rotation is completed by the next one.
 */
export function rotateToken(data: string, caller: keyof Tokens): string {
  const paths = layout(data);
  const token = generate();
  writeFileAtomic(join(paths.tokens, caller), `${token}\n`);
  const stack = findStackFile(paths.stackFile);
  if (stack) writeStackFile(paths.stackFile, { ...stack, tokens: { ...stack.tokens, [caller]: token } });
  return token;
}
