import { isKubeError } from "@svc/kube";
import { type AuditActor, auditActor, type Context, type Handler } from "@svc/mesh";
import { Fault, type InputOf, images, type MinecraftServerSpec } from "@svc/proto";
import { namespaceOf, servers as resource, type Server } from "../cluster/resource.ts";
import { changeAudited } from "./audited-change.ts";
import { type contracts, findByUserName, type ServerDeps } from "./deps.ts";
import { costsOf, faultOfDisplayName, faultOfIdle, idleOf, mergeResources, type Refusal } from "./input.ts";

type Contract = typeof contracts.patch;
type Input = Omit<InputOf<Contract>, "name">;
/** `null` removes a field, as in a merge patch. */
type SpecPatch = { [K in keyof MinecraftServerSpec]?: MinecraftServerSpec[K] | null };

const conflictTries = 5;

export const patch =
  (deps: ServerDeps): Handler<Contract> =>
  async (context, input) => {
    const known = await findByUserName(deps, input.name);
    const fields = fieldsOf(input);
    const image = await admit(deps, context, { known, input });
    const after = await changeServer(deps, auditActor(context), {
      known,
      input: { ...input, ...(image !== undefined && { image }) },
    });
    if (input.memory !== undefined || input.resources !== undefined) await updateCosts(deps, after);
    return { name: input.name, patched: fields };
  };

/** The reference that would be stored for the requested image; the current one needs no check. */
async function admit(
  deps: ServerDeps,
  context: Context<Contract>,
  { known, input }: { known: Server; input: Pick<Input, "image"> },
): Promise<string | undefined> {
  const { image } = input;
  if (image === undefined || image === known.spec.image) return image;
  return (await deps.mesh.call(images.admitImage, { image_ref: image }, context)).image_ref;
}

// Read again under the row's lock: of two concurrent changes the later one may come here first.
async function updateCosts({ store, kube }: ServerDeps, server: Server): Promise<void> {
  const target = { name: server.metadata.name, namespace: namespaceOf(server) };
  await store.refreshCosts(target.name, async () => {
    const now = await kube.find(resource, target, { timeoutMs: 3_000 });
    return now && costsOf(now.spec);
  });
}

/** The settings that a request names. Throws `bad_request` when there is none. */
export function fieldsOf(input: Input): string[] {
  const fields = Object.keys(input).filter((key) => key !== "name" && key !== "confirmImageChange");
  if (fields.length > 0) return fields;
  throw new Fault("bad_request", { message: "Name at least one setting to change." });
}

/** Changes the settings of a server in the cluster and records who did. */
export async function changeServer(
  deps: ServerDeps,
  actor: AuditActor,
  { known, input }: { known: Server; input: Input },
): Promise<Server> {
  let before = known;
  for (let left = conflictTries; ; left--) {
    const { name, resourceVersion } = before.metadata;
    const target = { name, namespace: namespaceOf(before) };
    const spec = patchOf(deps, before, input);
    const image = spec.image && { image_from: before.spec.image, image_to: spec.image };
    const audit = {
      ...actor,
      action: "server.patch",
      server_name: name,
      payload: { fields: fieldsOf(input), ...image },
    };
    const merge = { metadata: { resourceVersion }, spec };
    try {
      const patch = () => deps.kube.patch(resource, target, { merge });
      const after = await changeAudited(deps.store.audits, audit, patch);
      deps.servers.remember(after);
      return after;
    } catch (error) {
      if (!isKubeError(error, 409) || left === 0) throw error;
    }
    const now = await deps.kube.find(resource, target);
    if (!now) throw new Fault("not_found");
    before = now;
  }
}

function patchOf({ settings }: ServerDeps, { spec }: Server, input: Input): SpecPatch {
  const check = (refusal: Refusal | undefined) => {
    if (!refusal) return;
    // This call's body never contains a name.
    const fault = refusal.fault === "bad_subdomain" ? "bad_request" : refusal.fault;
    throw new Fault(fault, refusal.message ? { message: refusal.message } : {});
  };
  const result: SpecPatch = {};
  if (input.storage !== undefined) throw new Fault("storage_immutable");
  if (input.displayName !== undefined) {
    const displayName = input.displayName.trim();
    check(faultOfDisplayName(displayName));
    result.displayName = displayName || null;
  }
  if (input.autostartPolicy !== undefined) result.autostartPolicy = input.autostartPolicy;
  if (input.idleStopSeconds !== undefined) {
    check(faultOfIdle(input.idleStopSeconds));
    const seconds = spec.idle?.emptySecondsBeforeStop || settings.idle_default / 1_000;
    result.idle = idleOf(input.idleStopSeconds, seconds);
  }
  if (input.memory !== undefined || input.resources !== undefined) {
    const merged = mergeResources(spec, { memory: input.memory, resources: input.resources }, settings);
    if (merged.kind === "refused") check(merged.refusal);
    else {
      result.resources = withRemovals(spec.resources, merged.resources);
      result.javaMemory = merged.javaMemory ?? null;
    }
  }
  if (input.image !== undefined && input.image !== spec.image) {
    if (input.confirmImageChange !== true) throw new Fault("image_change_unconfirmed");
    result.image = input.image;
  }
  return result;
}

// A merge patch keeps what it does not name, so removed values are set to null.
function withRemovals(
  before: MinecraftServerSpec["resources"],
  after: NonNullable<MinecraftServerSpec["resources"]>,
): NonNullable<MinecraftServerSpec["resources"]> {
  const merge = (old: Record<string, string> | undefined, now: Record<string, string> | undefined) => {
    const gone = Object.keys(old ?? {}).filter((key) => now?.[key] === undefined);
    return {
      ...now,
      ...(Object.fromEntries(gone.map((key) => [key, null])) as unknown as Record<string, string>),
    };
  };
  return { limits: merge(before?.limits, after.limits), requests: merge(before?.requests, after.requests) };
}
