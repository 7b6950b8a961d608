import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";

/** Version of this build; releases stamp it (docs/reference/http.md#version). */
export const buildVersion = process.env["SVC_VERSION"] ?? "0.1.0";

/** Folder where the command was typed; npm changes to the checkout before it runs us. */
export const callerDir = process.env["INIT_CWD"] ?? process.cwd();

/** Where the local stack keeps everything unless told otherwise: `.svc` in the checkout. */
export const builtInDataDir = resolve(import.meta.dirname, "../../../.svc");

/** The same unless `SVC_DATA` names another folder. */
export const defaultDataDir = resolve(callerDir, process.env["SVC_DATA"] || builtInDataDir);

/** The cluster that kubectl would ask; of several files the first. */
export const kubectlConfigFile =
  process.env["KUBECONFIG"]?.split(delimiter).find(Boolean) ?? join(homedir(), ".kube/config");

/** What `svc migrate up` works on; the local stack and compose.yaml set these. */
export function migrateEnvironment(env: NodeJS.ProcessEnv = process.env) {
  return {
    adminUrl: env["SVC_ADMIN_DATABASE_URL"],
    /** That of a service's role. */
    databaseUrl: env["SVC_DATABASE_URL"],
    rolePasswordsFile: env["SVC_ROLE_PASSWORDS_FILE"],
    kubeconfig: env["SVC_KUBECONFIG"],
    /** NATS, and the user that may create streams. */
    nats: {
      url: env["SVC_NATS_URL"],
      user: env["SVC_NATS_USER"] || "migrate",
      password: env["SVC_NATS_PASSWORD"] ?? "",
      /** How often every stream is stored; unset: as it is, once for a new one. */
      replicas: Number(env["SVC_NATS_REPLICAS"]) || undefined,
    },
    /** Archive folder of a stack on one machine; unset where the cluster has its own claim. */
    archiveDir: env["SVC_ARCHIVE_DIR"],
  };
}

/** Folder with the programs of a PostgreSQL, in place of the embedded one. */
export function postgresFolder(env: NodeJS.ProcessEnv = process.env): string | undefined {
  return env["SVC_POSTGRES_BIN"] || undefined;
}

/** NATS URL, with the operator's user and password, for use without a local stack. */
export function operatorNatsUrl(env: NodeJS.ProcessEnv = process.env): string | undefined {
  return env["SVC_OPERATOR_NATS_URL"] || undefined;
}

/** An API token to call with instead of the saved session (docs/reference/cli.md#token). */
export function apiToken(env: NodeJS.ProcessEnv = process.env): string | undefined {
  return env["SVC_TOKEN"]?.trim() || undefined;
}

/** Environment that the processes of a stack are started with. */
export function environment(): NodeJS.ProcessEnv {
  return process.env;
}

/** The user's editor. */
export function editor(env: NodeJS.ProcessEnv = process.env): string {
  return env["VISUAL"] || env["EDITOR"] || "vi";
}

/** Whether a browser can be opened here. */
export function hasDisplay(env: NodeJS.ProcessEnv = process.env): boolean {
  return Boolean(env["DISPLAY"] || env["WAYLAND_DISPLAY"]);
}
