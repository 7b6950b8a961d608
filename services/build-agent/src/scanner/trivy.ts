import { access, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Settings } from "../config.ts";
import { runLogged } from "../run-logged.ts";
import type { StepContext } from "../step.ts";
import { versionOf } from "../version-of.ts";

type Trivy = {
  /** Scratch space of this step. */
  work: string;
  run: (args: string[]) => Promise<void>;
  version: () => Promise<string>;
};

/** The program that SVC_TRIVY names (a path, or a JSON array of words), or the one on PATH. Its settings are arguments alone. */
export async function openTrivy({ env, folder }: Settings, context: StepContext): Promise<Trivy> {
  const work = join(folder("tmp"), "trivy");
  // An empty working folder: a .trivyignore or trivy.yaml must not come from anywhere.
  const cwd = join(work, "empty");
  await mkdir(cwd, { recursive: true });
  const [command = "", ...words] = commandOf(env["SVC_TRIVY"] || "trivy");
  const own = { PATH: env["PATH"] ?? "", HOME: work, TMPDIR: work };
  return {
    work,
    run: (args) => runLogged({ command, args: [...words, ...args], env: own, cwd }, context),
    version: () => versionOf(command, [...words, "--version"], own),
  };
}

function commandOf(text: string): string[] {
  return text.startsWith("[") ? z.array(z.string()).min(1).parse(JSON.parse(text)) : [text];
}

type Database = { args: string[]; cache: string };

/**
 * Where vulnerabilities come from: the folder that SVC_TRIVY_DB names, else the mirror in the platform's registry where
 * a database is required, else nowhere.
 */
export async function prepareDatabase({ env, task }: Settings, { work }: Trivy): Promise<Database> {
  const cache = join(work, "cache");
  await mkdir(cache, { recursive: true });
  const given = env["SVC_TRIVY_DB"];
  const common = ["--cache-dir", cache, "--offline-scan"];
  const offline = [...common, "--skip-db-update", "--skip-java-db-update"];
  if (given && (await exists(join(given, "trivy.db")))) {
    await symlink(given, join(cache, "db"));
    return { cache, args: [...offline, "--scanners", "vuln,secret"] };
  }
  if (task.database.need === "optional") return { cache, args: [...offline, "--scanners", "secret"] };
  const { host, plain_http } = task.registry;
  const mirror = ["--db-repository", `${host}/mirror/trivy-db`];
  const java = ["--java-db-repository", `${host}/mirror/trivy-java-db`];
  const insecure = plain_http ? ["--insecure"] : [];
  return { cache, args: [...common, ...mirror, ...java, ...insecure, "--scanners", "vuln,secret"] };
}

const Metadata = z.object({ UpdatedAt: z.string() });

/** Leaves the age of the database that was used for the gate. */
export async function recordDatabase({ cache }: Database, path: string): Promise<void> {
  const text = await readFile(join(cache, "db", "metadata.json"), "utf8").catch(() => undefined);
  if (text === undefined) return;
  const { UpdatedAt } = Metadata.parse(JSON.parse(text));
  await writeFile(path, JSON.stringify({ updated_at: new Date(UpdatedAt).toISOString() }));
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
