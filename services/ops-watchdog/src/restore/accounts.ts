// Who may do what after a restore (docs/reference/database-backups.md#accounts): a bundle is older than what it replaces, and may
// come from elsewhere.

import type pg from "pg";
import { connect, hasTable } from "../bundle/snapshot.ts";

export type KeptFromBefore = {
  /** User names of accounts that the bundle opens and the replaced database had disabled or deleted. */
  stayDisabled: string[];
  /** Of those that are staff in the bundle and were not any more. */
  noLongerStaff: string[];
};

/** Remembers the accounts of the database that is replaced, until the transaction ends. */
export async function rememberAccounts(client: pg.Client): Promise<void> {
  await client.query(
    "create temp table replaced_accounts (id text primary key, is_closed boolean, is_staff boolean) on commit drop",
  );
  if (!(await hasTable(client, "identity.users"))) return;
  await client.query(
    `insert into replaced_accounts
     select id, disabled or deleted_at is not null, role::text <> 'user' from identity.users`,
  );
}

/** Closes again what was closed, and takes staff their role again. The owner stays: nobody could let the others in. */
export async function keepClosed(client: pg.Client): Promise<KeptFromBefore> {
  const change = async (set: string, where: string) => {
    const { rows } = await client.query<{ username: string }>(
      `update identity.users u set ${set} from replaced_accounts r
       where r.id = u.id and u.role <> 'owner' and u.deleted_at is null and ${where} returning username`,
    );
    return rows.map(({ username }) => username).sort();
  };
  return {
    noLongerStaff: await change("role = 'user'", "u.role = 'admin' and not r.is_staff"),
    stayDisabled: await change("disabled = true", "r.is_closed and not u.disabled"),
  };
}

export type StaffOfBundle = {
  username: string;
  role: string;
  /** What it is in the database that would be replaced; absent where it is the same. */
  now?: "unknown" | "disabled" | "not staff";
};

type Account = { id: string; username: string; role: string; isClosed: boolean };

/** Those of the rows of a bundle that would be staff, and what the database at `url` says of them. */
export async function findStaff(
  url: string,
  rows: AsyncIterable<Buffer>,
  columns: readonly string[],
): Promise<StaffOfBundle[]> {
  const staff: Account[] = [];
  for await (const account of accountsIn(rows, columns))
    if (account.role !== "user" && !account.isClosed) staff.push(account);
  const known = await readAccounts(
    url,
    staff.map(({ id }) => id),
  );
  return staff
    .map(({ id, username, role }): StaffOfBundle => {
      const before = known.get(id);
      if (!before) return { username, role, now: "unknown" };
      if (before.isClosed) return { username, role, now: "disabled" };
      return { username, role, ...(before.role === "user" && { now: "not staff" }) };
    })
    .sort((one, other) => (one.username < other.username ? -1 : 1));
}

async function readAccounts(url: string, ids: readonly string[]): Promise<Map<string, Account>> {
  const client = await connect(url, "svc-restore-plan");
  try {
    if (!(await hasTable(client, "identity.users"))) return new Map();
    const { rows } = await client.query<Account>(
      `select id, username, role::text, disabled or deleted_at is not null as "isClosed"
       from identity.users where id = any($1)`,
      [ids],
    );
    return new Map(rows.map((account) => [account.id, account]));
  } finally {
    await client.end();
  }
}

/** Lines of `COPY … TO STDOUT`: fields with tabs between them, `\N` for null. */
async function* accountsIn(
  chunks: AsyncIterable<Buffer>,
  columns: readonly string[],
): AsyncGenerator<Account> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const fields = line.split("\t");
      const of = (name: string) => fields[columns.indexOf(name)] ?? "";
      const isClosed = of("disabled") === "t" || of("deleted_at") !== "\\N";
      yield { id: of("id"), username: of("username"), role: of("role"), isClosed };
    }
  }
}
