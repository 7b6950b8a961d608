import { isKubeError, resources } from "@svc/kube";
import type { Context, Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import {
  type FaultOptions,
  type InputOf,
  images,
  isFault,
  type MinecraftServerSpec,
  quotas,
} from "@svc/proto";
import { annotation, servers as resource } from "../cluster/resource.ts";
import type { Usage } from "../database/account-usage.ts";
import type { Costs } from "../database/server-row.ts";
import { chooseImage } from "../image/choose.ts";
import type { contracts, ServerDeps } from "./deps.ts";
import {
  costsOf,
  faultOfDisplayName,
  faultOfIdle,
  faultOfName,
  faultOfQuantity,
  faultOfSubdomain,
  idleOf,
  mergeResources,
  type Refusal,
} from "./input.ts";
import { isPlaceable, placeServer } from "./placement.ts";
import { refusalOfOwner } from "./quota.ts";

type Contract = typeof contracts.create;
type Input = InputOf<Contract>;

export const create =
  (deps: ServerDeps): Handler<Contract> =>
  async (context, input) => {
    const { name, subdomain } = input;
    const wanted = specOf(deps, context, input);
    const spec = { ...wanted, image: await imageOf(deps, context, input.image) };
    await checkFree(deps, context, input);
    const offered = input.claimable ?? true;
    const costs = costsOf(spec);
    const payload = {
      subdomain,
      image: spec.image,
      ...(input.owner !== undefined && { owner: input.owner }),
    };
    const rows = { name, subdomain, costs, offered, ownerId: input.owner };
    await deps.store.claimRequest();
    await deps.store.insert(rows, {
      checkOwner: (used) => checkOwner(deps, context, { accountId: input.owner ?? "", used, costs }),
      makeObject: () => makeObject(deps, context, { name, spec, annotations: offeredAs(offered) }),
      audit: { ...auditActor(context), action: "server.create", server_name: name, payload },
    });
    return { name, subdomain, desiredState: "Stopped" };
  };

/** The wanted image, or the one that most players can join, as a server stores it. */
async function imageOf(
  deps: ServerDeps,
  context: Context<Contract>,
  wanted: string | undefined,
): Promise<string> {
  const admit = async (image_ref: string) =>
    (await deps.mesh.call(images.admitImage, { image_ref }, context)).image_ref;
  if (wanted !== undefined) return admit(wanted);
  const { default_image: defaultImage } = deps.settings;
  try {
    const { imageRef } = await chooseImage(deps, context);
    return await admit(imageRef);
  } catch (error) {
    // Nobody named the image that can't be had; the platform's own says what is wrong, or does.
    if (!isFault(error)) throw error;
    return admit(defaultImage);
  }
}

// In the order of docs/reference/server-resource.md#create: node, names, policy, sizes; the image is checked with builds after all of them.
function specOf(deps: ServerDeps, context: Context<Contract>, input: Input): MinecraftServerSpec {
  const { settings } = deps;
  const check = (refusal: Refusal | undefined) => {
    if (refusal) throw context.fault(refusal.fault, refusal.message ? { message: refusal.message } : {});
  };
  if (input.nodeName !== undefined && !isPlaceable(deps.nodes.list(), input.nodeName)) {
    throw context.fault("bad_node");
  }
  const displayName = input.displayName?.trim();
  const idleSeconds = input.idleStopSeconds ?? settings.idle_default / 1_000;
  const storage = input.storage ?? settings.default_storage;
  const memory = input.memory ?? settings.default_memory;
  check(faultOfName(input.name));
  check(faultOfSubdomain(input.subdomain));
  check(faultOfDisplayName(displayName ?? ""));
  if (input.idleStopSeconds !== undefined) check(faultOfIdle(input.idleStopSeconds));
  check(faultOfQuantity("memory", memory));
  check(faultOfQuantity("storage", storage));
  const merged = mergeResources({}, { memory, resources: input.resources }, settings);
  if (merged.kind === "refused") check(merged.refusal);
  const nodeName = input.nodeName ?? placeServer(deps.nodes.list(), deps.servers.list());
  return {
    subdomain: input.subdomain,
    image: input.image ?? settings.default_image,
    desiredState: "Stopped",
    autostartPolicy: input.autostartPolicy ?? "ownerOnly",
    fallbackServer: "login",
    ...(displayName && { displayName }),
    ...(nodeName !== undefined && { nodeName }),
    ...(merged.kind === "fine" && { resources: merged.resources }),
    ...(merged.kind === "fine" && merged.javaMemory !== undefined && { javaMemory: merged.javaMemory }),
    rcon: { enabled: true, port: 25_575, secretRef: { name: `${input.name}-rcon`, key: "password" } },
    storage: { size: storage },
    idle: idleOf(idleSeconds, settings.idle_default / 1_000),
  };
}

/** The request of whoever makes a server, in one of several ways. */
type Making = NonNullable<Parameters<ServerDeps["mesh"]["call"]>[2]> & {
  fault: (
    name: "subdomain_taken" | "name_taken" | "world_volume_exists" | "quota_exceeded" | "bad_request",
    options?: FaultOptions,
  ) => Error;
};

export async function checkFree(
  deps: ServerDeps,
  context: Making,
  { name, subdomain }: Pick<Input, "name" | "subdomain">,
): Promise<void> {
  const { kube, namespace, store } = deps;
  const holder = await store.subdomainHolder(subdomain);
  const isTaken = deps.servers
    .list()
    .some(({ metadata, spec }) => spec.subdomain === subdomain && metadata.name !== name);
  if (isTaken || (holder !== undefined && holder !== name)) throw context.fault("subdomain_taken");
  if (deps.servers.get(name)) throw context.fault("name_taken");
  const volume = await kube.find(resources.claims, { name: `world-${name}-0`, namespace });
  if (volume) throw context.fault("world_volume_exists");
}

// A database connection is held during this call.
const callTimeoutMs = 3_000;

export async function checkOwner(
  deps: ServerDeps,
  context: Making,
  { accountId, used, costs }: { accountId: string; used: Usage; costs: Costs },
): Promise<void> {
  const deadlineAt = Date.now() + callTimeoutMs;
  const asked = { user_id: accountId };
  const { limits, active } = await deps.mesh.call(quotas.readLimits, asked, { ...context, deadlineAt });
  const refusal = refusalOfOwner({ isActive: active, limits, used, costs });
  if (refusal?.fault === "quota_exceeded")
    throw context.fault("quota_exceeded", { message: refusal.message });
  if (refusal)
    throw context.fault("bad_request", { message: "owner: no account with this id can own a server." });
}

export const offeredAs = (offered: boolean) => ({ [annotation.offered]: String(offered) });

export async function makeObject(
  deps: ServerDeps,
  context: Making,
  about: { name: string; spec: MinecraftServerSpec; annotations: Record<string, string> },
): Promise<void> {
  const { name, spec, annotations } = about;
  const metadata = { name, namespace: deps.namespace, annotations };
  const server = { apiVersion: "svc.internal/v1alpha1", kind: "MinecraftServer", metadata, spec };
  try {
    deps.servers.remember(await deps.kube.create(resource, server));
  } catch (error) {
    if (isKubeError(error, 409)) throw context.fault("name_taken");
    if (isKubeError(error, 422)) throw context.fault("bad_request", { message: error.message });
    throw error;
  }
}
