import { auditActor, type Handler } from "@svc/mesh";
import { servers as contracts } from "@svc/proto";
import { assertAccess } from "../access/assert.ts";
import { annotation, namespaceOf, servers as resource } from "../cluster/resource.ts";
import { changeAudited } from "../server/audited-change.ts";
import { findByUserName, type ServerDeps } from "../server/deps.ts";
import { decideRestart, restartCommand } from "../server/restart-notice.ts";
import type { ServerRcon } from "./rcon.ts";

type RestartDeps = ServerDeps & { rcon: Pick<ServerRcon, "run"> };

/** One write on the object says when; the reconciler does it, whoever dies meanwhile. */
export const restart =
  (deps: RestartDeps): Handler<typeof contracts.restart> =>
  async (context, { name }) => {
    const server = await findByUserName(deps, name);
    assertAccess(context, { name, row: await deps.store.find(name), to: contracts.restart });
    const noticeMs = deps.settings.stop_notice;
    const decision = decideRestart(server, { now: Date.now(), noticeMs });
    if (decision.kind === "not-running")
      throw context.fault("not_running", { message: "The server is not running; start it instead." });
    const restart_at = new Date(decision.at).toISOString();
    if (decision.kind === "pending") return { name, restart_at };
    const merge = { metadata: { annotations: { [annotation.restart]: restart_at } } };
    const audit = { ...auditActor(context), action: "server.restart", server_name: name };
    const after = await changeAudited(deps.store.audits, audit, () =>
      deps.kube.patch(resource, { name, namespace: namespaceOf(server) }, { merge }),
    );
    deps.servers.remember(after);
    // Who cannot be told is not waited for longer than who can.
    if (decision.tells)
      await deps.rcon
        .run(server, restartCommand(Math.round(noticeMs / 1_000)))
        .catch((err: unknown) => context.log.warn({ err }, "telling players of a restart failed"));
    return { name, restart_at };
  };
