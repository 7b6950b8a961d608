// API tokens of the account that is signed in (docs/reference/api-tokens.md#token).

import { apiTokens, Right, rights } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { CommandError, type Outcome, table, UsageError } from "../output.ts";

type At = { data: string };
export type TokenOptions = At & { right: string[]; server?: string[]; days: number };

/** Asks for a fresh proof where one is needed, as other changes of an account do. */
export async function createToken(name: string, options: TokenOptions): Promise<Outcome> {
  const answer = await connectExternal(options.data).call(apiTokens.create, {
    name,
    rights: options.right.map(toRight),
    ...(options.server && { servers: options.server }),
    expires_in_days: options.days,
  });
  const { token, secret } = answer;
  return {
    json: answer,
    text:
      `${secret}\n\nThis is the only time that the secret is shown. It counts until ${token.expires_at}.\n` +
      "Scripts send it as `Authorization: Bearer …`; `svc` takes it from SVC_TOKEN.",
  };
}

function toRight(text: string): Right {
  const { data } = Right.safeParse(text);
  if (data === undefined) throw new UsageError(`${text} is no right; there are ${rights.join(", ")}`);
  return data;
}

export async function listTokens({ data }: At): Promise<Outcome> {
  const { tokens } = await connectExternal(data).call(apiTokens.list, {});
  const rows = tokens.map((token) => [
    ...[token.id, token.name, token.rights.join(","), token.servers?.join(",") ?? "all"],
    ...[token.expires_at, token.last_used_at ?? "never", token.last_used_ip ?? ""],
  ]);
  const head = ["ID", "NAME", "RIGHTS", "SERVERS", "EXPIRES", "LAST USED", "FROM"];
  return {
    json: { tokens },
    text: rows.length === 0 ? "You have no API tokens." : table([head, ...rows]),
  };
}

/** By id, or by a name that only one token has. */
export async function revokeToken(wanted: string, { data }: At): Promise<Outcome> {
  const external = connectExternal(data);
  const { tokens } = await external.call(apiTokens.list, {});
  const found = tokens.filter(({ id, name }) => id === wanted || name === wanted);
  const [token] = found;
  if (!token) throw new CommandError(`there is no API token ${wanted}; list them with: \`svc token list\``);
  if (found.length > 1)
    throw new CommandError(`${found.length} tokens are named ${wanted}; give the id of one`);
  await external.call(apiTokens.revoke, { id: token.id });
  return { json: { id: token.id, revoked: true }, text: `Revoked: ${token.name} no longer opens anything.` };
}
