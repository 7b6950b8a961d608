// Makes a server like another one. Its world is brought by storage, which follows the order; until that is done the lock on
// its object keeps everybody from starting it (docs/reference/clones.md#world).

import { randomBytes } from "node:crypto";
import { auditActor, type Context, type Handler } from "@svc/mesh";
import {
  type clones as contracts,
  Fault,
  type InputOf,
  images,
  type MinecraftServerSpec,
  origins,
} from "@svc/proto";
import { lockValue, maintenanceAnnotation } from "@svc/world-lock";
import { annotation } from "../cluster/resource.ts";
import { faultOfSpec } from "../reconcile/check-spec.ts";
import { checkFree, checkOwner, makeObject, offeredAs } from "../server/create.ts";
import { findByUserName, type ServerDeps } from "../server/deps.ts";
import { costsOf, faultOfDisplayName, faultOfName, faultOfSubdomain } from "../server/input.ts";
import { isPlaceable, placeServer } from "../server/placement.ts";
import { cloneSpec, leftOutOf } from "./spec.ts";

type Contract = typeof contracts.create;
type Input = InputOf<Contract>;

export const createClone =
  (deps: ServerDeps): Handler<Contract> =>
  async (context, input) => {
    const { name: source, as: name, subdomain = name } = input;
    const { spec: original } = await findByUserName(deps, source);
    const wanted = specOf(deps, context, { input, original });
    const { image_ref: image } = await deps.mesh.call(
      images.admitImage,
      { image_ref: wanted.image },
      context,
    );
    const spec = { ...wanted, image };
    await checkFree(deps, context, { name, subdomain });
    const order = await orderFor(deps, context, input);
    const offered = input.claimable && input.owner === undefined;
    const costs = costsOf(spec);
    const payload = {
      source,
      subdomain,
      world: input.world,
      ...(order?.backup_id !== undefined && { backup_id: order.backup_id }),
      ...(input.allowlist && { allowlist: true }),
      ...(input.owner !== undefined && { owner: input.owner }),
    };
    const annotations = { ...offeredAs(offered), ...(order && locked(order)) };
    await deps.store.claimRequest();
    await deps.store.insert(
      { name, subdomain, costs, offered, ownerId: input.owner },
      {
        checkOwner: (used) => checkOwner(deps, context, { accountId: input.owner ?? "", used, costs }),
        makeObject: () => makeObject(deps, context, { name, spec, annotations }),
        audit: { ...auditActor(context), action: "server.clone", server_name: name, payload },
        auditOfSource: {
          ...{ ...auditActor(context), action: "server.cloned", server_name: source },
          payload: { clone: name, world: input.world },
        },
        order,
        allowlistOf: input.allowlist ? source : undefined,
      },
    );
    return {
      ...{ name, subdomain, source, desiredState: "Stopped", world: order ? "copying" : "none" },
      ...(order?.backup_id !== undefined && { backup_id: order.backup_id }),
      left_out: leftOutOf(original),
    };
  };

// In the order of a creation: what was asked for together, node, names.
function specOf(
  deps: ServerDeps,
  context: Context<Contract>,
  { input, original }: { input: Input; original: MinecraftServerSpec },
): MinecraftServerSpec {
  const { as: name, subdomain = name, nodeName } = input;
  if (input.backup_id !== undefined && input.world !== "newest_backup")
    throw context.fault("bad_request", {
      message: "backup_id names the backup of the world; leave world out, or leave backup_id out.",
    });
  if (nodeName !== undefined && !isPlaceable(deps.nodes.list(), nodeName)) throw context.fault("bad_node");
  const displayName = input.displayName?.trim();
  const refusal = faultOfName(name) ?? faultOfSubdomain(subdomain) ?? faultOfDisplayName(displayName ?? "");
  if (refusal) throw new Fault(refusal.fault, refusal.message ? { message: refusal.message } : {});
  const placed = nodeName ?? placeServer(deps.nodes.list(), deps.servers.list());
  const spec = cloneSpec(original, { name, subdomain, displayName, nodeName: placed });
  const wrong = faultOfSpec(spec, deps.settings.default_storage);
  if (wrong === undefined) return spec;
  throw context.fault("bad_request", {
    message: `The source cannot start, and neither could a clone: ${wrong}`,
  });
}

async function orderFor(
  { mesh }: ServerDeps,
  context: Context<Contract>,
  { name: source, world, backup_id }: Input,
): Promise<contracts.CloneOrder | undefined> {
  if (world === "none") return undefined;
  const asked = {
    name: source,
    is_new: world === "new_backup",
    ...(backup_id !== undefined && { backup_id }),
  };
  const chosen = await mesh.call(origins.choose, asked, context);
  const now = Date.now();
  return {
    id: randomBytes(10).toString("hex"),
    source,
    ...(chosen.backup_id !== undefined && { backup_id: chosen.backup_id }),
    // Of the kinds of a lock this is the one that every release knows to last until it is released.
    lock: lockValue("migration", now),
    by: auditActor(context).actor,
    at: new Date(now).toISOString(),
  };
}

function locked(order: contracts.CloneOrder): Record<string, string> {
  return { [maintenanceAnnotation]: order.lock, [annotation.clone]: JSON.stringify(order) };
}
