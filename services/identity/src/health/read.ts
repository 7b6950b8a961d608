import type { Handler } from "@svc/mesh";
import type { identityHealth } from "@svc/proto";
import { countInstallationLeft, type MailRates } from "../budget/mail.ts";
import type { Deps } from "../deps.ts";

const waitingMs = 600_000;

/** identity.health.read */
export function createReadHealth(
  deps: Pick<Deps, "db" | "hasRelay" | "now"> & { budget: MailRates },
): Handler<typeof identityHealth.readIdentityHealth> {
  const { db, hasRelay, budget, now } = deps;
  return async () => {
    const { count } = await db
      .selectFrom("mail_notices")
      .select((of) => of.fn.countAll<number>().as("count"))
      .where("created_at", "<", new Date(now().getTime() - waitingMs))
      .executeTakeFirstOrThrow();
    const left = hasRelay ? await countInstallationLeft(db, budget, now()) : undefined;
    return { mails_waiting: Number(count), ...(left !== undefined && { mails_left: left }) };
  };
}
