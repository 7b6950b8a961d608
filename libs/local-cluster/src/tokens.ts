import { randomBytes } from "node:crypto";
import { chmod, readFile, rename, writeFile } from "node:fs/promises";

/** The user of a bearer token. */
export type TokenEntry = { token: string; user: string; groups: string[] };

/** A ServiceAccount that gets a token and a kubeconfig. */
export type ServiceAccountName = { namespace: string; name: string };

export const ADMIN_USER = "admin";

/** The user name of a ServiceAccount in Kubernetes. */
export function accountUser({ namespace, name }: ServiceAccountName): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

/** Atomically writes a file that only its owner can read. */
export async function writePrivate(file: string, text: string): Promise<void> {
  const next = `${file}.next`;
  await writeFile(next, text, { mode: 0o600 });
  await chmod(next, 0o600);
  await rename(next, file);
}

async function readTokens(file: string): Promise<TokenEntry[]> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "[]";
    throw error;
  });
  return JSON.parse(text) as TokenEntry[];
}

function fresh(user: string, groups: string[]): TokenEntry {
  return { token: randomBytes(32).toString("base64url"), user, groups: [...groups, "system:authenticated"] };
}

/** Keeps the tokens of earlier starts and adds those that are missing; `extra` entries replace their user's. */
export async function ensureTokens(
  file: string,
  accounts: ServiceAccountName[],
  extra: TokenEntry[],
): Promise<TokenEntry[]> {
  const replaced = new Set(extra.map(({ user }) => user));
  const kept = (await readTokens(file)).filter(({ user }) => !replaced.has(user));
  const wanted = [
    fresh(ADMIN_USER, ["system:masters"]),
    ...accounts.map((account) =>
      fresh(accountUser(account), ["system:serviceaccounts", `system:serviceaccounts:${account.namespace}`]),
    ),
  ];
  const known = new Set([...kept, ...extra].map(({ user }) => user));
  const tokens = [...kept, ...extra, ...wanted.filter(({ user }) => !known.has(user))];
  await writePrivate(file, `${JSON.stringify(tokens, undefined, 2)}\n`);
  return tokens;
}
