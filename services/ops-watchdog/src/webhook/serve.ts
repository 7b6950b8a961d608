// Which handler answers which operation of webhooks.

import type { Context, Mesh } from "@svc/mesh";
import { type AnyContract, webhooks as contracts } from "@svc/proto";
import { listDeliveries, redeliver, test } from "./deliveries.ts";
import { change, create, list, type ManageDeps, remove, rotate } from "./manage.ts";
import { type Place, placeOf, platform } from "./place.ts";

type ServeDeps = ManageDeps & { mesh: Pick<Mesh, "serve" | "call"> };

export function serveWebhooks(deps: ServeDeps): void {
  serveOfServers(deps);
  serveOfPlatform(deps);
}

function serveOfServers({ mesh, ...deps }: ServeDeps): void {
  type Called = Context<AnyContract>;
  const at = async (
    context: Called,
    name: string,
    to: AnyContract,
  ): Promise<{ context: Called; place: Place }> => ({
    context,
    place: await placeOf(mesh, context, { name, to }),
  });
  const forStaffToo = (context: Called, name: string, to: AnyContract) =>
    placeOf(mesh, context, { name, to, isForStaff: true });
  mesh.serve(contracts.list, async (context, { name }) =>
    list(deps, await forStaffToo(context, name, contracts.list)),
  );
  mesh.serve(contracts.create, async (context, { name, ...wanted }) =>
    create(deps, await at(context, name, contracts.create), wanted),
  );
  mesh.serve(contracts.change, async (context, { name, ...wanted }) =>
    change(deps, await at(context, name, contracts.change), wanted),
  );
  mesh.serve(contracts.remove, async (context, { name, id }) => {
    const place = await forStaffToo(context, name, contracts.remove);
    return remove(deps, { context, place }, id);
  });
  mesh.serve(contracts.rotate, async (context, { name, id }) =>
    rotate(deps, await at(context, name, contracts.rotate), id),
  );
  mesh.serve(contracts.test, async (context, { name, id }) =>
    test(deps, await at(context, name, contracts.test), id),
  );
  mesh.serve(contracts.listDeliveries, async (context, { name, ...page }) =>
    listDeliveries(deps, await forStaffToo(context, name, contracts.listDeliveries), page),
  );
  mesh.serve(contracts.redeliver, async (context, { name, ...which }) =>
    redeliver(deps, await at(context, name, contracts.redeliver), which),
  );
}

function serveOfPlatform({ mesh, ...deps }: ServeDeps): void {
  const place = platform;
  mesh.serve(contracts.listPlatform, () => list(deps, place));
  mesh.serve(contracts.createPlatform, (context, wanted) => create(deps, { context, place }, wanted));
  mesh.serve(contracts.changePlatform, (context, wanted) => change(deps, { context, place }, wanted));
  mesh.serve(contracts.removePlatform, (context, { id }) => remove(deps, { context, place }, id));
  mesh.serve(contracts.rotatePlatform, (context, { id }) => rotate(deps, { context, place }, id));
  mesh.serve(contracts.testPlatform, (context, { id }) => test(deps, { context, place }, id));
  mesh.serve(contracts.listPlatformDeliveries, (_context, page) => listDeliveries(deps, place, page));
  mesh.serve(contracts.redeliverPlatform, (context, which) => redeliver(deps, { context, place }, which));
}
