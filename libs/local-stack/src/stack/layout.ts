import { join } from "node:path";

/** Paths below the data folder of a stack. */
export function layout(data: string) {
  return {
    data,
    stackFile: join(data, "stack.json"),
    supervisorFile: join(data, "supervisor.json"),
    portsFile: join(data, "ports.json"),
    imagesFile: join(data, "images.json"),
    configFile: join(data, "svc.toml"),
    setupUrlFile: join(data, "setup-url"),
    run: join(data, "run"),
    logs: join(data, "logs"),
    supervisorLog: join(data, "logs", "supervisor.log"),
    secrets: join(data, "secrets"),
    migrateEnvFile: join(data, "secrets", "migrate.json"),
    tokens: join(data, "tokens"),
    postgres: join(data, "postgres"),
    nats: join(data, "nats"),
    cluster: join(data, "cluster"),
    pods: join(data, "cluster", "pods"),
    kubeconfig: join(data, "cluster", "kubeconfig"),
    proxy: join(data, "proxy"),
    mail: join(data, "mail"),
    sftp: join(data, "sftp"),
    archive: join(data, "archive"),
    registry: join(data, "registry"),
    registryCredentials: join(data, "secrets", "registry-credentials"),
    panel: join(data, "panel"),
    compileCache: join(data, "cache", "v8"),
  };
}

export type Layout = ReturnType<typeof layout>;
