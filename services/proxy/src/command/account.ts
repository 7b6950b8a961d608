// Commands about accounts. The UUID is always that of the connection.

import type { Answer, InternalApi } from "../api/internal-api.ts";
import type { Pool } from "../api/pool.ts";
import type { ProxyConfig } from "../config.ts";
import { type Session, sentence, tell } from "../session/session.ts";

export type AccountDeps = {
  readonly config: Pick<ProxyConfig, "onlineMode">;
  readonly api: Pick<
    InternalApi,
    "linkStatus" | "mintCode" | "startMigration" | "readLogin" | "approveLogin"
  >;
  readonly pool: Pool;
};

type Refusal = Extract<Answer<unknown>, { ok: false }>;

function tellRefusal(session: Session, answer: Refusal) {
  if (answer.status === 0 || answer.status >= 500) return tell(session, "serviceDown");
  tell(session, "refused", { reason: answer.message });
}

/** `/link`: a code to click. Unverified UUIDs get none. */
export async function mintLink({ config, api, pool }: AccountDeps, session: Session): Promise<void> {
  if (!config.onlineMode) return tell(session, "tryAgain");
  const linked = await pool.run(() => api.linkStatus(session.uuid));
  if (linked.ok && linked.value.linked) return tell(session, "alreadyLinked");
  const answer = await pool.run(() => api.mintCode(session.uuid));
  if (!answer.ok) return tellRefusal(session, answer);
  const { code, expires_at: expires, panel_url: panel = "" } = answer.value;
  const text = sentence(session, "linkCode", { code, panel, expires });
  session.bridge.message({ text, color: "gold", click: { copy: code }, hover: code });
}

export async function startMigration({ api, pool }: AccountDeps, session: Session): Promise<void> {
  const answer = await pool.run(() => api.startMigration(session.uuid));
  if (!answer.ok) return tellRefusal(session, answer);
  tell(session, "migrateStarted");
}

/** Without the account's name it only shows who asks: approving takes having read that. */
export async function approveLogin(
  { api, pool }: AccountDeps,
  session: Session,
  { id, account }: { id: string; account: string | undefined },
): Promise<void> {
  if (account !== undefined) {
    const done = await pool.run(() => api.approveLogin(id, session.uuid, account));
    return done.ok
      ? tell(session, "opApproved", { username: done.value.username })
      : tellRefusal(session, done);
  }
  const asked = await pool.run(() => api.readLogin(id, session.uuid));
  if (!asked.ok) return tellRefusal(session, asked);
  const { username, email, client_ip: ip, user_agent: agent } = asked.value;
  tell(session, "opLogin", { id, username, email, ip, agent });
}
