import type { Mesh } from "@svc/mesh";
import { ownership, type users } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import type { Account } from "../account/store.ts";

/** The one mapper from a row to its view. */
export function toUserView(account: Account, serverCount: number): users.UserView {
  return {
    id: account.id,
    username: account.username,
    ...(account.email !== null && { email: account.email }),
    role: account.role,
    disabled: account.disabled,
    email_verified: account.email_verified,
    server_count: serverCount,
    created_at: account.created_at.toISOString(),
    updated_at: account.updated_at.toISOString(),
  };
}

const patienceMs = 1_000;

export type CountDeps = { mesh: Pick<Mesh, "call">; log: Logger };

/** How many servers users own. A list of users is useful without it, so a failure counts as zero. */
export async function countServers(
  { mesh, log }: CountDeps,
  userIds: string[],
): Promise<(userId: string) => number> {
  if (userIds.length === 0) return () => 0;
  const deadlineAt = Date.now() + patienceMs;
  const counts = await mesh.call(ownership.countOwned, { user_ids: userIds }, { deadlineAt }).then(
    (answer) => answer.counts,
    (error: Error) => {
      log.warn({ error: error.message }, "server count failed; showing 0");
      return {} as Record<string, number>;
    },
  );
  return (userId) => counts[userId] ?? 0;
}
