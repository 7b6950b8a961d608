import { isDeepStrictEqual } from "node:util";
import {
  type EventRecorder,
  isKubeError,
  type Kube,
  type KubeObject,
  resources,
  type Secret,
  type StatefulSet,
} from "@svc/kube";
import type { MinecraftServerStatus } from "@svc/proto";
import { conditionOf } from "../cluster/condition.ts";
import { namespaceOf, type Server, servers } from "../cluster/resource.ts";
import type { Watched } from "../cluster/watched.ts";
import { type ForwardingAccess, forwardingSecretObject } from "./forwarding.ts";
import { isAtRest, type Observed } from "./observed.ts";
import type { Effect, Plan } from "./plan.ts";
import type { RconAccess } from "./rcon-access.ts";
import { isSameJson } from "./same-json.ts";

export type ActDeps = {
  kube: Kube;
  rcon: Pick<RconAccess, "announce" | "saveWorld">;
  forwarding: Pick<ForwardingAccess, "wrote">;
  watched: Watched;
  events: EventRecorder;
  /** Throws when this pass must stop: its time is up, or another replica leads. */
  assertMayContinue: () => void;
  /** Called for every change of phase. */
  onPhase: (change: { server: string; from: string; to: string; reason: string }) => void;
};

type Planned = {
  plan: Plan;
  /** The plan when the API server rejects as invalid what we took for valid: the spec is at fault. */
  rejected: (message: string) => Plan;
};

/** Carries out a plan; resolves with the plan that was carried out in the end. */
export async function act(deps: ActDeps, observed: Observed, planned: Planned): Promise<Plan> {
  const { plan, rejected } = planned;
  let about = observed;
  if (isStartFromRest(observed, plan))
    about = { ...observed, server: await claimStart(deps, observed, plan) };
  for (const effect of plan.effects) {
    if (isLate(effect)) continue;
    deps.assertMayContinue();
    const instead = await perform(deps, about, effect).catch((error: unknown) => {
      if (isKubeError(error, 422)) return rejected(error.message);
      throw error;
    });
    if (instead) return act(deps, about, { ...planned, plan: instead });
  }
  deps.assertMayContinue();
  const server = await writeStatus(deps, about, plan.status);
  for (const effect of plan.effects) if (isLate(effect)) await performLate(deps, server, effect);
  for (const note of plan.notes) deps.events.record({ about: server, ...note });
  recordPhase(deps, observed, plan);
  return plan;
}

function isStartFromRest(observed: Observed, plan: Plan): boolean {
  const starts = plan.effects.some(({ kind }) => /^(create|update|replace)-stateful-set$/.test(kind));
  return starts && isAtRest(observed);
}

// A lock on the world is written against a version of the object that says Stopped. So Starting is written first, against
// the version that this pass has seen: exactly one of the two writes succeeds, and a pass with an old copy never opens a
// world that somebody else works on (docs/reference/world-lock.md#lock).
async function claimStart(
  { kube, watched, assertMayContinue }: ActDeps,
  { server }: Observed,
  plan: Plan,
): Promise<Server> {
  assertMayContinue();
  const written = await kube.replaceStatus(servers, { ...server, status: plan.status });
  watched.servers.remember(written);
  return written;
}

type LateEffect = Extract<Effect, { kind: "remove-annotation" | "set-desired-stopped" | "end-keep-awake" }>;

// These change the server's own object, so they follow the status, which is written against the version that was read.
const lateKinds: ReadonlySet<Effect["kind"]> = new Set<LateEffect["kind"]>([
  "remove-annotation",
  "set-desired-stopped",
  "end-keep-awake",
]);

function isLate(effect: Effect): effect is LateEffect {
  return lateKinds.has(effect.kind);
}

async function perform(
  { kube, rcon, watched, events, forwarding }: ActDeps,
  observed: Observed,
  effect: Exclude<Effect, LateEffect>,
): Promise<Plan | undefined> {
  const { server } = observed;
  const namespace = namespaceOf(server);
  const target = { name: server.metadata.name, namespace };
  switch (effect.kind) {
    case "create-service": {
      const made = await ignoreExisting(kube.create(resources.services, effect.service));
      if (made) watched.services.remember(made);
      return undefined;
    }
    case "patch-service": {
      const { selector, ports } = effect.service.spec ?? {};
      const before = observed.service?.spec?.selector ?? {};
      const gone = Object.fromEntries(Object.keys(before).map((key) => [key, null]));
      const merge = { spec: { selector: { ...gone, ...selector }, ports } };
      watched.services.remember(await kube.patch(resources.services, target, { merge }));
      return undefined;
    }
    case "create-secret": {
      await kube.create(resources.secrets, effect.secret);
      const message = `Secret ${effect.secret.metadata.name} was created with a new RCON password.`;
      events.record({ about: server, type: "Normal", reason: "RconSecretCreated", message });
      return undefined;
    }
    case "write-forwarding-secret":
      await putSecret(kube, forwardingSecretObject(server, effect.content));
      forwarding.wrote(server, effect.content);
      return undefined;
    case "create-stateful-set":
      watched.statefulSets.remember(await kube.create(resources.statefulSets, effect.statefulSet));
      return undefined;
    case "update-stateful-set": {
      const next = updated(effect.current, effect.statefulSet);
      watched.statefulSets.remember(await kube.replace(resources.statefulSets, next));
      return undefined;
    }
    case "replace-stateful-set": {
      const { uid, resourceVersion } = effect.current.metadata;
      const precondition = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
      await kube.remove(resources.statefulSets, target, { ...precondition, propagationPolicy: "Background" });
      watched.statefulSets.remember(await kube.create(resources.statefulSets, effect.statefulSet));
      return undefined;
    }
    case "scale-down": {
      const merge = { metadata: { resourceVersion: effect.resourceVersion }, spec: { replicas: 0 } };
      watched.statefulSets.remember(await kube.patch(resources.statefulSets, target, { merge }));
      return undefined;
    }
    case "delete-pod":
      await ignoreMissing(
        kube.remove(
          resources.pods,
          { name: effect.name, namespace },
          effect.uid === undefined ? {} : { uid: effect.uid },
        ),
      );
      return undefined;
    case "announce": {
      const isDelivered = await rcon.announce(observed, effect.message);
      return isDelivered ? undefined : effect.undelivered;
    }
    case "save-world":
      await rcon.saveWorld(observed);
      return undefined;
  }
}

// The file of a running pod must not change, and an unchanged Secret is not written again.
async function putSecret(kube: Kube, secret: Secret): Promise<void> {
  const { name, namespace } = secret.metadata;
  const found = await kube.find(resources.secrets, { name, ...(namespace && { namespace }) });
  const ownerOf = ({ metadata }: Secret) => metadata.ownerReferences?.[0]?.uid;
  if (found && isDeepStrictEqual(found.data, secret.data) && ownerOf(found) === ownerOf(secret)) return;
  const { resourceVersion } = found?.metadata ?? {};
  if (!found) await kube.create(resources.secrets, secret);
  else
    await kube.replace(resources.secrets, {
      ...secret,
      metadata: { ...secret.metadata, ...(resourceVersion && { resourceVersion }) },
    });
}

// Labels, annotations, replicas and template are ours; the rest of the set is immutable or belongs to the cluster.
// A merge patch would keep keys that the template no longer has, so the whole set is replaced.
function updated(current: StatefulSet, wanted: StatefulSet): StatefulSet {
  return {
    ...current,
    metadata: {
      ...current.metadata,
      labels: { ...current.metadata.labels, ...wanted.metadata.labels },
      annotations: { ...current.metadata.annotations, ...wanted.metadata.annotations },
    },
    spec: { ...current.spec, replicas: wanted.spec.replicas ?? 0, template: wanted.spec.template },
  };
}

async function ignoreExisting<T extends KubeObject>(made: Promise<T>): Promise<T | undefined> {
  return made.catch((error: unknown) => {
    if (isKubeError(error, 409)) return undefined;
    throw error;
  });
}

// Gone already, or another pod of the same name: either way the pod that was meant no longer exists.
async function ignoreMissing(removed: Promise<void>): Promise<void> {
  await removed.catch((error: unknown) => {
    if (!isKubeError(error, 404) && !isKubeError(error, 409)) throw error;
  });
}

async function writeStatus(
  deps: ActDeps,
  observed: Observed,
  status: MinecraftServerStatus,
): Promise<Server> {
  const { server } = observed;
  if (isSameJson(status, server.status ?? {})) return server;
  const written = await deps.kube.replaceStatus(servers, { ...server, status });
  deps.watched.servers.remember(written);
  return written;
}

async function performLate({ kube, watched }: ActDeps, server: Server, effect: LateEffect): Promise<void> {
  const target = { name: server.metadata.name, namespace: namespaceOf(server) };
  watched.servers.remember(await kube.patch(servers, target, { merge: changeOf(server, effect) }));
}

function changeOf({ metadata: { resourceVersion } }: Server, effect: LateEffect): object {
  switch (effect.kind) {
    case "remove-annotation":
      return { metadata: { annotations: { [effect.key]: null } } };
    case "set-desired-stopped":
      return { metadata: { resourceVersion }, spec: { desiredState: "Stopped" } };
    case "end-keep-awake":
      return { metadata: { resourceVersion }, spec: { idle: { keptAwake: null } } };
  }
}

function recordPhase({ events, onPhase }: ActDeps, observed: Observed, plan: Plan): void {
  const from = observed.status.phase ?? "Unknown";
  const to = plan.status.phase ?? "Unknown";
  const why = conditionOf(plan.status.conditions, "Ready");
  const isRestart =
    why?.reason === "AutoRestart" &&
    conditionOf(observed.status.conditions, "Ready")?.reason !== "AutoRestart";
  if (from === to && !isRestart) return;
  const reason = why?.reason ?? to;
  onPhase({ server: observed.server.metadata.name, from, to, reason });
  const isBad = to === "Failed" || isRestart || (from === "Running" && to === "Starting");
  events.record({
    about: observed.server,
    type: isBad ? "Warning" : "Normal",
    reason,
    message: `${from} → ${to}: ${why?.message ?? ""}`,
  });
}
