// Mails that other services request: sent at once, so that the caller learns the outcome (docs/reference/reaper.md#warnings).

import type { Handler, Mesh } from "@svc/mesh";
import { notices } from "@svc/proto";
import { findLiveAccount, listVerifiedOwners } from "../account/store.ts";
import type { Deps } from "../deps.ts";
import type { Mailer } from "../mail/mailer.ts";
import { toMessage } from "../mail/message.ts";
import { mails, momentOf } from "../mail/templates.ts";

type NoticeDeps = Pick<Deps, "db" | "hasRelay"> & { mailer: Mailer };

export function serveNotices(deps: NoticeDeps & { mesh: Pick<Mesh, "serve"> }): void {
  deps.mesh.serve(notices.sendNotice, createSendNotice(deps));
  deps.mesh.serve(notices.listStaffRecipients, createListStaffRecipients(deps));
}

/** identity.notice.send */
function createSendNotice({ db, hasRelay, mailer }: NoticeDeps): Handler<typeof notices.sendNotice> {
  return async (context, { user_id, kind, facts }) => {
    const suppressed = (reason: string) => ({ result: "suppressed", reason }) as const;
    if (!hasRelay) return suppressed("no mail relay is configured");
    const account = await findLiveAccount(db, user_id);
    if (!account) return suppressed("the account is disabled or deleted");
    if (!account.email_verified || account.email === null) return suppressed("no verified address");
    const { at } = facts;
    const values = { server: "", ...facts, moment: at === undefined ? "" : momentOf(at) };
    const message = toMessage(mails[kind], account.language, values);
    await mailer.takeBudget("world");
    await mailer.deliver("world", { to: account.email, message, requestId: context.requestId });
    return { result: "delivered" };
  };
}

/** identity.notice.list-staff-recipients */
function createListStaffRecipients({
  db,
}: Pick<NoticeDeps, "db">): Handler<typeof notices.listStaffRecipients> {
  return async () => ({ recipients: await listVerifiedOwners(db) });
}
