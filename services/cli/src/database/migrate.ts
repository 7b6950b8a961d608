import { migrateStreams } from "@svc/mesh/migrate";
import { migrateUp } from "@svc/store";
import { readRolePasswords } from "@svc/store/role-passwords";
import { ensureArchiveVolume } from "../cluster/archive.ts";
import { applyDefinitions } from "../cluster/definitions.ts";
import { migrateEnvironment } from "../config.ts";
import { CommandError, type Outcome } from "../output.ts";
import type { Taken } from "./bundles.ts";
import { databaseVariables } from "./environment.ts";
import { findPending, findUnfinishedRestore, grantReading } from "./rights.ts";
import { schemas } from "./schemas.ts";
import { askWatchdog } from "./watchdog.ts";

type MigrateOptions = { data: string; backup?: boolean };

/**
 * Brings the database, NATS and the cluster up to this build: a schema and a role per service, the streams and their
 * consumers, then the custom resource and the Roles when a kubeconfig is given. Repeating it changes nothing.
 */
export async function migrateAll({ data, backup = true }: MigrateOptions): Promise<Outcome> {
  const variables = databaseVariables(data);
  const environment = migrateEnvironment(variables);
  const { adminUrl, rolePasswordsFile, kubeconfig, archiveDir } = environment;
  if (!adminUrl || !rolePasswordsFile) {
    throw new CommandError(
      "SVC_ADMIN_DATABASE_URL (a superuser) and SVC_ROLE_PASSWORDS_FILE (JSON of service: password, or a folder with a file for each) go together",
    );
  }
  const passwords = readRolePasswords(rolePasswordsFile);
  await refuseUnfinishedRestore(adminUrl);
  const bundle = backup && (await findPending(adminUrl)).length > 0 ? await backUpData(variables) : [];
  const applied: string[] = [];
  for (const { service, name, migrations } of schemas()) {
    const rolePassword = passwords[service];
    if (!rolePassword) throw new CommandError(`${rolePasswordsFile} has no password for ${service}`);
    const names = await migrateUp(adminUrl, { schema: name, rolePassword, migrations });
    applied.push(...names.map((migration) => `${name}: ${migration}`));
  }
  await grantReading(adminUrl, variables);
  const streams = await migrateNats(environment.nats);
  const objects = kubeconfig ? await applyDefinitions(kubeconfig) : [];
  if (kubeconfig && archiveDir) objects.push(...(await ensureArchiveVolume(kubeconfig, archiveDir)));
  const done = [...bundle, ...applied, ...streams, ...objects];
  return {
    json: { applied, streams, objects },
    text: done.length > 0 ? done.join("\n") : "Everything is up to date.",
  };
}

/** Services must stay out until the streams fit the restored rows; a migration would let them in. */
async function refuseUnfinishedRestore(adminUrl: string): Promise<void> {
  const bundle = await findUnfinishedRestore(adminUrl);
  if (bundle === undefined) return;
  throw new CommandError(
    `the restore of ${bundle} did not finish; run svc db restore ${bundle} --yes again first`,
  );
}

/** Nothing is migrated when this fails. */
async function backUpData(variables: NodeJS.ProcessEnv): Promise<string[]> {
  try {
    const taken = await askWatchdog<Taken | null>(variables, { do: "back-up-data" });
    return taken ? [`bundle ${taken.path}`] : [];
  } catch (error) {
    throw new CommandError(
      `nothing was migrated: the bundle before it failed (${(error as Error).message}); --no-backup migrates without one`,
    );
  }
}

const natsWithinMs = 30_000;

type NatsEnvironment = ReturnType<typeof migrateEnvironment>["nats"];

/** Only this command creates streams, so a missing address is a mistake. */
async function migrateNats(nats: NatsEnvironment) {
  const { url, user, password, replicas } = nats;
  if (!url) {
    throw new CommandError(
      "SVC_NATS_URL, SVC_NATS_USER (migrate) and SVC_NATS_PASSWORD are needed: the streams are made with them; svc up sets all three",
    );
  }
  try {
    return await migrateStreams({ url, user, password, replicas, signal: AbortSignal.timeout(natsWithinMs) });
  } catch (error) {
    throw new CommandError(`the streams of NATS could not be made: ${(error as Error).message}`);
  }
}
