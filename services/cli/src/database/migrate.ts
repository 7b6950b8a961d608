import { readFileSync } from "node:fs";
import { findMigrateEnv } from "@svc/local-stack";
import { migrateStreams } from "@svc/mesh/migrate";
import { migrateUp } from "@svc/store";
import { ensureArchiveVolume } from "../cluster/archive.ts";
import { applyDefinitions } from "../cluster/definitions.ts";
import { migrateEnvironment } from "../config.ts";
import { stackHint } from "../hint.ts";
import { CommandError, type Outcome } from "../output.ts";
import { schemas } from "./schemas.ts";

/**
 * Brings the database, NATS and the cluster up to this build: a schema and a role per service, the streams and their
 * consumers, then the custom resource and the Roles when a kubeconfig is given. Repeating it changes nothing.
 */
export async function migrateAll({ data }: { data: string }): Promise<Outcome> {
  const environment = chosenEnvironment(data);
  const { adminUrl, rolePasswordsFile, kubeconfig, archiveDir } = environment;
  if (!adminUrl || !rolePasswordsFile) {
    throw new CommandError(
      "SVC_ADMIN_DATABASE_URL (a superuser) and SVC_ROLE_PASSWORDS_FILE (JSON of service: password) go together",
    );
  }
  const passwords = JSON.parse(readFileSync(rolePasswordsFile, "utf8")) as Record<string, string>;
  const applied: string[] = [];
  for (const { service, name, migrations } of schemas()) {
    const rolePassword = passwords[service];
    if (!rolePassword) throw new CommandError(`${rolePasswordsFile} has no password for ${service}`);
    const names = await migrateUp(adminUrl, { schema: name, rolePassword, migrations });
    applied.push(...names.map((migration) => `${name}: ${migration}`));
  }
  const streams = await migrateNats(environment.nats);
  const objects = kubeconfig ? await applyDefinitions(kubeconfig) : [];
  if (kubeconfig && archiveDir) objects.push(...(await ensureArchiveVolume(kubeconfig, archiveDir)));
  const done = [...applied, ...streams, ...objects];
  return {
    json: { applied, streams, objects },
    text: done.length > 0 ? done.join("\n") : "Everything is up to date.",
  };
}

/** The environment if it names a database, otherwise the local stack of the data folder. */
function chosenEnvironment(data: string): ReturnType<typeof migrateEnvironment> {
  const given = migrateEnvironment();
  if (given.adminUrl || given.rolePasswordsFile) return given;
  const local = findMigrateEnv(data);
  if (local) return migrateEnvironment(local);
  throw new CommandError(
    `no stack was started on ${data} yet; start one with ${stackHint("up", data)}, or set SVC_ADMIN_DATABASE_URL and SVC_ROLE_PASSWORDS_FILE`,
  );
}

const natsWithinMs = 30_000;

/** Only this command creates streams, so a missing address is a mistake. */
async function migrateNats(nats: { url: string | undefined; user: string; password: string }) {
  const { url, user, password } = nats;
  if (!url) {
    throw new CommandError(
      "SVC_NATS_URL, SVC_NATS_USER (migrate) and SVC_NATS_PASSWORD are needed: the streams are made with them; svc up sets all three",
    );
  }
  try {
    return await migrateStreams({ url, user, password, signal: AbortSignal.timeout(natsWithinMs) });
  } catch (error) {
    throw new CommandError(`the streams of NATS could not be made: ${(error as Error).message}`);
  }
}
