import { cpSync, lstatSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { StackError } from "../error.ts";
import { runCommand } from "../process/run.ts";

/** PostgreSQL refuses to run as root; `userns` and `nobody` are the two ways around it. */
export type AccountMode = "self" | "userns" | "nobody";

/** How commands of the server are started: the words before the command, and the account. */
export type Account = {
  mode: AccountMode;
  prefix: readonly string[];
  uid?: number;
  gid?: number;
  /** Folder of the binaries as that account reaches it. */
  native: string;
};

// Uid 65534 is the one unprivileged account that every distribution has a name for; the server asks for the name.
const nobody = 65534;
const userns = ["unshare", "--user", `--map-user=${nobody}`, `--map-group=${nobody}`];

/**
 * In a user namespace the server sees itself as `nobody` while the kernel still sees root: it works below /root,
 * and no file changes its owner. Containers often forbid namespaces; then the server really runs as `nobody`.
 */
async function chooseMode(): Promise<AccountMode> {
  if (process.getuid?.() !== 0) return "self";
  const probe = await runCommand("unshare", [...userns.slice(1), "true"]);
  return probe.code === 0 ? "userns" : "nobody";
}

/** The nearest folder at or above `path` that other accounts may not enter. */
function findClosedFolder(path: string): string | undefined {
  for (let folder = path; ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

// 60 MB once: a checkout below /root is closed to `nobody`, so the server needs a copy that it can reach.
function reachableBinaries(native: string): string {
  if (!findClosedFolder(native)) return native;
  const { mtimeMs } = statSync(join(native, "bin", "postgres"));
  const copy = join(tmpdir(), `svc-postgres-${Math.round(mtimeMs)}`);
  const found = lstatSync(copy, { throwIfNoEntry: false });
  if (found?.isDirectory() && found.uid === 0) return join(copy, "native");
  const partial = `${copy}.${process.pid}`;
  mkdirSync(partial, { mode: 0o755 });
  cpSync(native, join(partial, "native"), { recursive: true, verbatimSymlinks: true });
  rmSync(copy, { recursive: true, force: true });
  renameSync(partial, copy);
  return join(copy, "native");
}

function asNobody(native: string, dataDir: string): Account {
  const closed = findClosedFolder(dirname(dataDir));
  if (closed) {
    throw new StackError(
      `PostgreSQL does not run as root, and the account nobody may not enter ${closed}; ` +
        "choose a data folder outside of it with --data, or run this as a normal user",
    );
  }
  return { mode: "nobody", prefix: [], uid: nobody, gid: nobody, native: reachableBinaries(native) };
}

/** Decides who runs the server. The parent of the data folder must exist. */
export async function chooseAccount(native: string, dataDir: string, mode?: AccountMode): Promise<Account> {
  const chosen = mode ?? (await chooseMode());
  if (chosen === "nobody") return asNobody(native, dataDir);
  return { mode: chosen, prefix: chosen === "userns" ? userns : [], native };
}

/** The command line of one of the server's programs under that account. */
export function commandAs(
  account: Account,
  program: string,
  args: readonly string[],
): { command: string; args: string[]; uid?: number; gid?: number } {
  const words = [...account.prefix, join(account.native, "bin", program), ...args];
  return {
    command: words[0] ?? program,
    args: words.slice(1),
    ...(account.uid !== undefined && { uid: account.uid }),
    ...(account.gid !== undefined && { gid: account.gid }),
  };
}
