// What compose.yaml needs beyond images: secrets, made once, and configuration, written each time.

import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { callerTokens, migrateUser, natsAuthorization, natsUsers, owners, services } from "@svc/proto";
import { systemForwardingFiles } from "../local-config/forwarding-files.ts";
import { imageTable } from "../local-config/image-table.ts";
import { localConfig } from "../local-config/settings.ts";
import { CommandError, type Outcome } from "../output.ts";

/** Addresses inside the shared network namespace of compose.yaml. */
const at = {
  nats: "nats://127.0.0.1:4222",
  postgres: "127.0.0.1:5432",
  external: 8080,
  internal: 8081,
  smtp: 2525,
  // Game servers use 25565 on their own addresses, so nothing may listen on it on all addresses.
  game: 25577,
  gate: 25578,
  lobby: 25579,
  sftp: 2222,
  natsMonitor: 8222,
  firstHealth: 9101,
};
/** Each of these has a port of its own for probes, in the order of compose.yaml; the lobby answers none. */
const probed = [
  "gateway-internal",
  "gateway-external",
  "lifecycle",
  "storage",
  "builds",
  "identity",
  "ops-watchdog",
  "proxy",
  "login-gate",
  "sftp",
];
const repo = "/opt/svc";
const node = "/usr/local/bin/node";

/**
 * Writes the folder that compose.yaml mounts as `/config`; existing secrets are kept (docs/reference/compose.md#files). Throws a
 * `CommandError` when the account may not write there.
 */
export async function writeCompose({ out }: { out: string }): Promise<Outcome> {
  try {
    return writeFiles(out);
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code !== "EACCES" && code !== "EPERM") throw error;
    throw new CommandError(
      `${path ?? out} belongs to another account; give it the owner of this process (docs/reference/compose.md#upgrade)`,
    );
  }
}

function writeFiles(out: string): Outcome {
  const passwordOf = (name: string) => secret(join(out, "secrets", name));
  const natsPasswords = Object.fromEntries(natsUsers.map((user) => [user, passwordOf(`nats-${user}`)]));
  const rolePasswords = Object.fromEntries(owners.map((owner) => [owner, passwordOf(`database-${owner}`)]));
  for (const caller of callerTokens) secret(join(out, "tokens", caller));
  const admin = `postgres://postgres:${passwordOf("database-admin")}@${at.postgres}/postgres`;
  const files: Record<string, string> = {
    "nats.conf": natsConfig(natsPasswords),
    "svc.toml": localConfig(composeFacts),
    // Without the folder's secrets: the embedded cluster mounts this one alone.
    "cluster/images.json": JSON.stringify(imageTable(repo, node), null, 2),
    "secrets/database-roles.json": JSON.stringify(rolePasswords),
    "env/migrate.env": environmentText({
      SVC_CONFIG: "/config/svc.toml",
      SVC_ADMIN_DATABASE_URL: admin,
      SVC_ROLE_PASSWORDS_FILE: "/config/secrets/database-roles.json",
      SVC_KUBECONFIG: "/data/cluster/kubeconfig",
      SVC_NATS_URL: at.nats,
      SVC_NATS_USER: migrateUser,
      SVC_NATS_PASSWORD: passwordOf(`nats-${migrateUser}`),
      SVC_ARCHIVE_DIR: composeFacts.archiveDir,
    }),
  };
  for (const [name, env] of Object.entries(gameEnvironments()))
    files[`env/${name}.env`] = environmentText(env);
  secret(join(out, "secrets", "sftp-host-key"));
  const systemSecrets = systemForwardingFiles(passwordOf("forwarding-master"));
  for (const [name, lines] of Object.entries(systemSecrets)) files[`secrets/forwarding-${name}`] = lines;
  for (const service of services) {
    const env = serviceEnvironment(service, { nats: natsPasswords, roles: rolePasswords });
    files[`env/${service}.env`] = environmentText(env);
  }
  for (const [name, text] of Object.entries(files)) write(join(out, name), text);
  return {
    json: { written: Object.keys(files) },
    text: `wrote ${Object.keys(files).length} files to ${out}`,
  };
}

type Passwords = { nats: Record<string, string>; roles: Record<string, string> };

function serviceEnvironment(service: string, passwords: Passwords): Record<string, string> {
  const role = passwords.roles[service];
  const isGateway = service.startsWith("gateway-");
  const isInternal = service === "gateway-internal";
  const port = isInternal ? at.internal : at.external;
  return {
    SVC_CONFIG: "/config/svc.toml",
    SVC_NATS_URL: at.nats,
    SVC_NATS_USER: service,
    SVC_NATS_PASSWORD: passwords.nats[service] ?? "",
    ...healthOf(service),
    SVC_LANE_HOST: "127.0.0.1",
    ...(role
      ? { SVC_DATABASE_URL: `postgres://svc_${service.replaceAll("-", "_")}:${role}@${at.postgres}/postgres` }
      : {}),
    ...(["lifecycle", "storage", "ops-watchdog"].includes(service)
      ? { SVC_KUBECONFIG: `/data/cluster/kubeconfig.${service}` }
      : {}),
    // Nothing outside calls the internal face.
    ...(isGateway
      ? { SVC_LISTEN: `${isInternal ? "127.0.0.1" : "0.0.0.0"}:${port}`, SVC_TOKENS_DIR: "/config/tokens" }
      : {}),
  };
}

function healthOf(name: string): Record<string, string> {
  return { SVC_HEALTH_HOST: "127.0.0.1", SVC_HEALTH_PORT: String(at.firstHealth + probed.indexOf(name)) };
}

const composeFacts = {
  rootDomain: "svc.localhost",
  panelHost: "console.svc.localhost",
  adminHost: "op.console.svc.localhost",
  externalBaseUrl: `http://127.0.0.1:${at.external}`,
  internalBaseUrl: `http://127.0.0.1:${at.internal}`,
  smtp: { host: "127.0.0.1", port: at.smtp },
  setupUrlFile: "/data/setup-url",
  archiveDir: "/data/archive",
  registryHost: undefined,
  panelDir: `${repo}/panel`,
  forwardingMasterFile: "/config/secrets/forwarding-master",
};

/** The game side and SFTP know the faces and their own tokens, not the mesh, database or cluster. */
function gameEnvironments(): Record<string, Record<string, string>> {
  const face = {
    SVC_API_BASE_URL: composeFacts.internalBaseUrl,
    SVC_ROOT_DOMAIN: composeFacts.rootDomain,
    SVC_PANEL_HOSTNAME: `${composeFacts.panelHost}:${at.external}`,
  };
  const place = (name: "login-gate" | "lobby", port: number) => ({
    POD_IP: "127.0.0.1",
    GAME_PORT: String(port),
    SVC_FORWARDING_SECRET_FILE: `/config/secrets/forwarding-${name}`,
  });
  return {
    "login-gate": {
      ...healthOf("login-gate"),
      ...face,
      ...place("login-gate", at.gate),
      SVC_SERVICE_TOKEN_FILE: "/config/tokens/limbo",
    },
    lobby: place("lobby", at.lobby),
    proxy: {
      ...healthOf("proxy"),
      ...face,
      SVC_FORWARDING_MASTER_FILE: composeFacts.forwardingMasterFile,
      SVC_SERVICE_TOKEN_FILE: "/config/tokens/velocity",
      SVC_PROXY_DIR: "/data/proxy",
      SVC_PROXY_HOST: "0.0.0.0",
      SVC_PROXY_PORT: String(at.game),
      SVC_LOGIN_ADDRESS: `127.0.0.1:${at.gate}`,
      SVC_LOBBY_ADDRESS: `127.0.0.1:${at.lobby}`,
    },
    sftp: {
      ...healthOf("sftp"),
      SVC_API_BASE_URL: composeFacts.internalBaseUrl,
      SVC_EXTERNAL_URL: composeFacts.externalBaseUrl,
      SVC_SERVICE_TOKEN_FILE: "/config/tokens/sftp",
      SVC_SFTP_HOST: "0.0.0.0",
      SVC_SFTP_PORT: String(at.sftp),
      SVC_SFTP_PUBLIC_HOST: "127.0.0.1",
      SVC_SFTP_HOST_KEY_FILE: "/config/secrets/sftp-host-key",
      // Its /tmp is memory.
      SVC_SFTP_DIR: "/data",
    },
  };
}

function natsConfig(passwords: Record<string, string>): string {
  const { port } = new URL(at.nats);
  return `host: 127.0.0.1
port: ${port}
http: 127.0.0.1:${at.natsMonitor}
jetstream { store_dir: "/data/jetstream" }
${natsAuthorization(passwords)}`;
}

function environmentText(values: Record<string, string>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}

function secret(path: string): string {
  if (!existsSync(path)) write(path, randomBytes(24).toString("base64url"));
  return readFileSync(path, "utf8").trim();
}

/** For this account and its group, which PostgreSQL, an account of its own, is in. */
function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o750 });
  writeFileSync(path, text, { mode: 0o640 });
}
