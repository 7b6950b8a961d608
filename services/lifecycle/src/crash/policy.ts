// The restart policy of a server, which its object carries (docs/reference/crashes.md#policy).

import { auditActor, type Context, type Handler } from "@svc/mesh";
import { type AnyContract, restartPolicies as policies } from "@svc/proto";
import { assertAccess } from "../access/assert.ts";
import { assertKept } from "../cluster/definition.ts";
import { namespaceOf, servers as resource, restartPolicyOf, type Server } from "../cluster/resource.ts";
import { changeAudited } from "../server/audited-change.ts";
import { findByUserName, type ServerDeps } from "../server/deps.ts";

export const readPolicy =
  (deps: ServerDeps): Handler<typeof policies.read> =>
  async (context, { name }) =>
    restartPolicyOf(await findFor(deps, context, { name, to: policies.read }));

export const writePolicy =
  (deps: ServerDeps): Handler<typeof policies.write> =>
  async (context, { name, ...policy }) => {
    const server = await findFor(deps, context, { name, to: policies.write });
    const restart = {
      afterCrash: policy.after_crash,
      whenHung: policy.when_hung,
      silentMinutes: policy.silent_minutes,
    };
    const audit = {
      ...auditActor(context),
      action: "server.restart_policy",
      server_name: name,
      payload: policy,
    };
    const target = { name, namespace: namespaceOf(server) };
    const after = await changeAudited(deps.store.audits, audit, () =>
      deps.kube.patch(resource, target, { merge: { spec: { restart } } }),
    );
    deps.servers.remember(after);
    assertKept(after.spec.restart !== undefined, "restart policies");
    return restartPolicyOf(after);
  };

async function findFor(
  deps: ServerDeps,
  context: Pick<Context<AnyContract>, "principal">,
  { name, to }: { name: string; to: Pick<AnyContract, "http"> },
): Promise<Server> {
  const server = await findByUserName(deps, name);
  assertAccess(context, { name, row: await deps.store.find(name), to });
  return server;
}
