// Settings of SFTP (docs/reference/settings.md#sftp). What is needed and missing stops the start: one that nobody can use
// is better seen at once.

import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { ConfigError, readVariables, text, wholeNumber } from "@svc/config";

const gibibyte = 1_024 ** 3;

export const settings = {
  /** Address to listen on. */
  SVC_SFTP_HOST: text("127.0.0.1"),
  /** Port to listen on; 0 lets the system choose one. */
  SVC_SFTP_PORT: wholeNumber({ min: 0, max: 65_535, fallback: 2_222 }),
  /** Host that people connect to, as the panel shows it; empty = `sftp.` and the root domain. */
  SVC_SFTP_PUBLIC_HOST: text(),
  /** Port that people connect to; 0 = the one that is listened on. */
  SVC_SFTP_PUBLIC_PORT: wholeNumber({ min: 0, max: 65_535, fallback: 0 }),
  /** File of the secret of at least 32 characters from which the host key is derived. */
  SVC_SFTP_HOST_KEY_FILE: text(),
  /** Origin of the internal face. */
  SVC_API_BASE_URL: text(),
  /** Origin of the external face. */
  SVC_EXTERNAL_URL: text(),
  /** File of the token of the caller `sftp`, read again at most once a second. */
  SVC_SERVICE_TOKEN_FILE: text(),
  /** Domain of the installation. */
  SVC_ROOT_DOMAIN: text(),
  /** Folder for what is being transferred; empty = the system's folder for temporary files. */
  SVC_SFTP_DIR: text(),
  /** Bytes that may lie there; one connection may have half of it. */
  SVC_SFTP_SPOOL_BYTES: wholeNumber({ min: 1_048_576, max: Number.MAX_SAFE_INTEGER, fallback: 8 * gibibyte }),
  /** Connections at once that are signed in. */
  SVC_SFTP_SESSIONS: wholeNumber({ min: 1, max: 10_000, fallback: 256 }),
  /** Of them of one account. */
  SVC_SFTP_SESSIONS_PER_ACCOUNT: wholeNumber({ min: 1, max: 10_000, fallback: 8 }),
  /** Connections at once of one IPv4 address or IPv6 /64, signed in or not. */
  SVC_SFTP_CONNECTIONS_PER_ADDRESS: wholeNumber({ min: 1, max: 10_000, fallback: 16 }),
  /** Signatures that one address may send at once, and in each minute. */
  SVC_SFTP_SIGN_INS_PER_MINUTE: wholeNumber({ min: 1, max: 10_000, fallback: 20 }),
  /** Seconds after which a connection without a request ends. */
  SVC_SFTP_IDLE_SECONDS: wholeNumber({ min: 10, max: 86_400, fallback: 900 }),
};

export type SftpConfig = ReturnType<typeof loadConfig>;

export function loadConfig(environment: Readonly<Record<string, string | undefined>>) {
  const values = readVariables(
    settings,
    (name) => environment[name],
    ({ name, message }) => {
      throw new ConfigError(`${name} ${message}`);
    },
  );
  const publicHost =
    values.SVC_SFTP_PUBLIC_HOST || (values.SVC_ROOT_DOMAIN && `sftp.${values.SVC_ROOT_DOMAIN}`);
  const need = (value: string, what: string) => {
    if (value === "") throw new ConfigError(`${what} is not set`);
    return value;
  };
  const origin = (value: string, what: string) => {
    if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return value;
    throw new ConfigError(`${what} must be an http or https address`);
  };
  return {
    host: values.SVC_SFTP_HOST,
    port: values.SVC_SFTP_PORT,
    publicHost: need(publicHost, "SVC_SFTP_PUBLIC_HOST or SVC_ROOT_DOMAIN"),
    publicPort: values.SVC_SFTP_PUBLIC_PORT,
    hostKeySecret: readSecret(need(values.SVC_SFTP_HOST_KEY_FILE, "SVC_SFTP_HOST_KEY_FILE")),
    internalUrl: origin(values.SVC_API_BASE_URL, "SVC_API_BASE_URL"),
    externalUrl: origin(values.SVC_EXTERNAL_URL, "SVC_EXTERNAL_URL"),
    tokenFile: need(values.SVC_SERVICE_TOKEN_FILE, "SVC_SERVICE_TOKEN_FILE"),
    spoolDir: values.SVC_SFTP_DIR || tmpdir(),
    spoolBytes: values.SVC_SFTP_SPOOL_BYTES,
    sessions: values.SVC_SFTP_SESSIONS,
    sessionsPerAccount: values.SVC_SFTP_SESSIONS_PER_ACCOUNT,
    connectionsPerAddress: values.SVC_SFTP_CONNECTIONS_PER_ADDRESS,
    signInsPerMinute: values.SVC_SFTP_SIGN_INS_PER_MINUTE,
    idleMs: values.SVC_SFTP_IDLE_SECONDS * 1_000,
  };
}

const shortestSecret = 32;

function readSecret(file: string): string {
  let secret = "";
  try {
    secret = readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new ConfigError(`SVC_SFTP_HOST_KEY_FILE can't be read: ${(error as Error).message}`);
  }
  if (secret.length >= shortestSecret) return secret;
  throw new ConfigError(`SVC_SFTP_HOST_KEY_FILE must hold at least ${shortestSecret} characters`);
}
