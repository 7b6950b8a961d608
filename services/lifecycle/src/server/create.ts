import { isKubeError, resources } from "@svc/kube";
import type { Context, Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import {
  Fault,
  type FaultOptions,
  type InputOf,
  images,
  isFault,
  type MinecraftServerSpec,
  quotas,
  type serverTemplates,
} from "@svc/proto";
import { annotation, servers as resource } from "../cluster/resource.ts";
import type { Usage } from "../database/account-usage.ts";
import type { Costs } from "../database/server-row.ts";
import { chooseImage } from "../image/choose.ts";
import type { contracts, ServerDeps } from "./deps.ts";
import { costsOf } from "./input.ts";
import { newSpec, withTemplate } from "./new-spec.ts";
import { isPlaceable, placeServer } from "./placement.ts";
import { refusalOfOwner } from "./quota.ts";

type Contract = typeof contracts.create;
type Input = Omit<InputOf<Contract>, "template">;
type Template = { name: string; settings: serverTemplates.TemplateSettings };

/** `findTemplate` throws `template_not_found`. */
export const create =
  (deps: ServerDeps, findTemplate: (name: string) => Promise<Template>): Handler<Contract> =>
  async (context, { template: named, ...input }) => {
    const template = named === undefined ? undefined : await findTemplate(named);
    return createServer(deps, context, { input, template });
  };

type Creating = {
  input: Input;
  /** As it was when the request came. */
  template?: Template | undefined;
  /** Whether the owner makes it for itself. */
  isOwn?: boolean;
};

/** Creates a stopped server. Throws the faults of a creation (docs/reference/server-resource.md#create). */
export async function createServer(
  deps: ServerDeps,
  context: Context<Contract> | Making,
  { input: given, template, isOwn = false }: Creating,
): Promise<{ name: string; subdomain: string; desiredState: "Stopped" }> {
  const { owner, claimable: offered = true, ...settings } = given;
  const input = template ? withTemplate(settings, template.settings) : settings;
  const { name, subdomain } = input;
  const wanted = specOf(deps, input, template?.settings);
  const spec = { ...wanted, image: await imageOf(deps, context, input.image) };
  await checkFree(deps, context, input);
  const costs = costsOf(spec);
  const payload = {
    subdomain,
    image: spec.image,
    ...(owner !== undefined && { owner }),
    ...(template && { template: template.name }),
  };
  const annotations = { ...offeredAs(offered), ...(isOwn && owner && { [annotation.createdBy]: owner }) };
  await deps.store.claimRequest();
  await deps.store.insert(
    { name, subdomain, costs, offered, ownerId: owner, isOwn },
    {
      checkOwner: async (used, made) => {
        if (isOwn) checkMade(deps, made);
        await checkOwner(deps, context, { accountId: owner ?? "", used, costs });
      },
      makeObject: () => makeObject(deps, context, { name, spec, annotations }),
      audit: { ...auditActor(context), action: "server.create", server_name: name, payload },
    },
  );
  return { name, subdomain, desiredState: "Stopped" };
}

function checkMade({ settings }: ServerDeps, made: number): void {
  const most = settings.servers_made_per_account;
  if (made < most) return;
  const message =
    most === 0
      ? "Accounts make no servers here; ask an operator."
      : `You have made ${made} servers, and an account may make ${most}. One that you gave up counts until staff delete it.`;
  throw new Fault("creation_limit", { message });
}

/** The wanted image, or the one that most players can join, as a server stores it. */
async function imageOf(deps: ServerDeps, context: Making, wanted: string | undefined): Promise<string> {
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
function specOf(
  { nodes, servers, settings }: ServerDeps,
  input: Omit<Input, "owner" | "claimable">,
  template: Template["settings"] | undefined,
): MinecraftServerSpec {
  if (input.nodeName !== undefined && !isPlaceable(nodes.list(), input.nodeName)) throw new Fault("bad_node");
  const made = newSpec(settings, input, template);
  if (made.kind === "refused") {
    const { fault, message } = made.refusal;
    throw new Fault(fault, message ? { message } : {});
  }
  const nodeName = input.nodeName ?? placeServer(nodes.list(), servers.list());
  return { ...made.spec, ...(nodeName !== undefined && { nodeName }) };
}

/** The request of whoever makes a server, in one of several ways. */
type Making = Parameters<typeof auditActor>[0] &
  NonNullable<Parameters<ServerDeps["mesh"]["call"]>[2]> & {
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
