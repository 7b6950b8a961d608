import { fields, type Outcome, table } from "../output.ts";
import { askIdentity } from "./identity.ts";

type User = {
  id: string;
  username: string;
  email?: string;
  role: string;
  disabled: boolean;
  created_at: string;
};

export async function listUsers(options: { data: string; query?: string }): Promise<Outcome> {
  const command = { do: "list-users", ...(options.query !== undefined && { query: options.query }) };
  const { users, total } = await askIdentity<{ users: User[]; total: number }>(options.data, command);
  const head = ["NAME", "ROLE", "E-MAIL", "STATE", "SINCE", "ID"];
  const rows = users.map((user) => [
    user.username,
    user.role,
    user.email ?? "-",
    user.disabled ? "disabled" : "active",
    user.created_at.slice(0, 10),
    user.id,
  ]);
  const more = total > users.length ? `\n${users.length} of ${total}; narrow the list with --query` : "";
  const text = users.length === 0 ? "No users found." : `${table([head, ...rows])}${more}`;
  return { json: { users, total }, text };
}

export async function showUser(who: string, { data }: { data: string }): Promise<Outcome> {
  const user = await readUser(data, who);
  return { json: user, text: fields(user) };
}

/** One user, by name, id or verified address. Throws a `CommandError` when there is none. */
export function readUser(data: string, who: string): Promise<User & Record<string, unknown>> {
  const command = { do: "describe-user", who };
  return askIdentity(data, command);
}
