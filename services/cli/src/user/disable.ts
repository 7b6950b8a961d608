import { users } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { readUser } from "../host/users.ts";
import { type Outcome, planned } from "../output.ts";

export async function disableUser(who: string, options: { data: string; yes?: boolean }): Promise<Outcome> {
  const user = await readUser(options.data, who);
  const plan = `disable ${user.username} (${user.email ?? "no address"}): all sessions end and sign-in is blocked`;
  if (!options.yes) return planned(plan, `Plan: ${plan}`);
  const answer = await connectExternal(options.data).call(users.disable, { id: user.id, disabled: true });
  return { json: answer, text: `Disabled ${user.username}.` };
}

export async function enableUser(who: string, { data }: { data: string }): Promise<Outcome> {
  const user = await readUser(data, who);
  const answer = await connectExternal(data).call(users.disable, { id: user.id, disabled: false });
  return { json: answer, text: `${user.username} can sign in again.` };
}
