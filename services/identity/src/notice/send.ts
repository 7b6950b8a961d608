// Mails that other services request: sent at once, so that the caller learns the outcome (docs/reference/reaper.md#warnings).

import type { Handler, Mesh } from "@svc/mesh";
import { notices, shortMoment } from "@svc/proto";
import { findByVerifiedEmail, findLiveAccount, listVerifiedOwners } from "../account/store.ts";
import { panelOrigin, type Settings } from "../config.ts";
import type { Deps } from "../deps.ts";
import { causeOf } from "../mail/crash-causes.ts";
import type { Mailer } from "../mail/mailer.ts";
import { toMessage } from "../mail/message.ts";
import { mails } from "../mail/templates.ts";

type NoticeDeps = Pick<Deps, "db" | "hasRelay"> & { mailer: Mailer; settings: Settings };

export function serveNotices(deps: NoticeDeps & { mesh: Pick<Mesh, "serve"> }): void {
  deps.mesh.serve(notices.sendNotice, createSendNotice(deps));
  deps.mesh.serve(notices.sendInvitation, createSendInvitation(deps));
  deps.mesh.serve(notices.listStaffRecipients, createListStaffRecipients(deps));
}

/** identity.notice.send */
function createSendNotice({
  db,
  hasRelay,
  mailer,
  settings,
}: NoticeDeps): Handler<typeof notices.sendNotice> {
  const origin = panelOrigin(settings);
  return async (context, { user_id, kind, facts }) => {
    const suppressed = (reason: string) => ({ result: "suppressed", reason }) as const;
    if (!hasRelay) return suppressed("no mail relay is configured");
    const account = await findLiveAccount(db, user_id);
    if (!account) return suppressed("the account is disabled or deleted");
    if (!account.email_verified || account.email === null) return suppressed("no verified address");
    const { at, server = "" } = facts;
    const values = {
      ...{ server, ...facts },
      moment: at === undefined ? "" : shortMoment(at),
      cause: causeOf(facts["cause"], account.language),
      link: origin === undefined ? "" : `${origin}/servers/${server}`,
    };
    const message = toMessage(mails[kind], account.language, values);
    await mailer.takeBudget("world");
    await mailer.deliver("world", { to: account.email, message, requestId: context.requestId });
    return { result: "delivered" };
  };
}

/** identity.notice.send-invitation; the answer is the same whether the address has an account or not. */
function createSendInvitation({
  db,
  hasRelay,
  mailer,
  settings,
}: NoticeDeps): Handler<typeof notices.sendInvitation> {
  return async (context, { email, user_id, server, expires_at }) => {
    const origin = panelOrigin(settings);
    const inviter = await findLiveAccount(db, user_id);
    if (!hasRelay || origin === undefined || !inviter) return { result: "suppressed" };
    const known = await findByVerifiedEmail(db, email);
    const values = {
      ...{ server, inviter: inviter.username, link: `${origin}/invitations` },
      moment: shortMoment(expires_at),
    };
    const message = toMessage(mails.access_invitation, (known ?? inviter).language, values);
    await mailer.takeShares("invitation", { access: "invitation", recipient: email, caller: user_id });
    await mailer.takeBudget("invitation");
    await mailer.deliver("invitation", { to: email, message, requestId: context.requestId });
    return { result: "delivered" };
  };
}

/** identity.notice.list-staff-recipients */
function createListStaffRecipients({
  db,
}: Pick<NoticeDeps, "db">): Handler<typeof notices.listStaffRecipients> {
  return async () => ({ recipients: await listVerifiedOwners(db) });
}
