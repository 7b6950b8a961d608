import { resolve } from "node:path";
import { callerDir } from "../config.ts";
import { type Outcome, table } from "../output.ts";
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
  const more = total > users.length ? `\n${users.length} of ${total}; narrow them with --query` : "";
  const text = users.length === 0 ? "There are no such users." : `${table([head, ...rows])}${more}`;
  return { json: { users, total }, text };
}

export async function showUser(who: string, { data }: { data: string }): Promise<Outcome> {
  const user = await askIdentity<Record<string, unknown>>(data, { do: "describe-user", who } as {
    do: string;
  });
  const lines = Object.entries(user).map(
    ([key, value]) =>
      `${key.padEnd(18)} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`,
  );
  return { json: user, text: lines.join("\n") };
}

export async function exportAudit(options: {
  data: string;
  since?: string;
  until?: string;
  out: string;
}): Promise<Outcome> {
  const { data, since, until } = options;
  const out = resolve(callerDir, options.out);
  const command = { do: "export-audit", out, ...(since && { since }), ...(until && { until }) };
  const answer = await askIdentity<{ entries: number; file: string }>(data, command);
  return { json: answer, text: `${answer.entries} entries are in ${answer.file}.` };
}
