// `svc converge`: fields of server objects that were never set (docs/reference/cli.md#converge). It works on the cluster alone.

import { connectKube, isKubeError, type Kube, type KubeObject, resource } from "@svc/kube";
import {
  MinecraftServer,
  type MinecraftServerSpec,
  type MinecraftServerStatus,
  systemNames,
} from "@svc/proto";
import { migrateEnvironment } from "../config.ts";
import { databaseVariables } from "../database/environment.ts";
import { CommandError, type Outcome, planned } from "../output.ts";
import type { Common } from "../program.ts";
import { decideFill, type Plan } from "./decide.ts";

export type ConvergeOptions = Common & { userRcon?: boolean; namespace: string; yes?: boolean };

type ServerObject = KubeObject & {
  spec?: Partial<MinecraftServerSpec>;
  status?: Pick<MinecraftServerStatus, "phase">;
};
const { group, version, plural, kind } = MinecraftServer;
const servers = resource<ServerObject>({ group, version, plural, kind, namespaced: true });

type Planned = Plan & { revision: string | undefined };

export async function converge(options: ConvergeOptions): Promise<Outcome> {
  const { kubeconfig } = migrateEnvironment(databaseVariables(options.data));
  const kube = connectKube({ kubeconfigFile: kubeconfig });
  try {
    const plans = await planAll(kube, options);
    const lines = plans.flatMap(planLines);
    if (plans.every(isEmpty))
      return {
        json: { filled: [], skipped: plans },
        text: ["Every server has all fields.", ...lines].join("\n"),
      };
    if (!options.yes) return planned(plans, lines.join("\n"));
    const filled = [];
    for (const plan of plans.filter((one) => !isEmpty(one))) filled.push(await fill(kube, plan, options));
    return { json: { filled, skipped: plans.filter(isEmpty) }, text: lines.join("\n") };
  } finally {
    kube.close();
  }
}

const isEmpty = (plan: Plan) => Object.keys(plan.fill).length === 0;

async function planAll(kube: Kube, { namespace, userRcon = false }: ConvergeOptions): Promise<Planned[]> {
  const { items } = await kube.list(servers, { namespace });
  const plans = items.map(({ metadata: { name, resourceVersion }, spec = {}, status }) => {
    const isStopped = spec.desiredState !== "Running" && (status?.phase ?? "Stopped") === "Stopped";
    const plan = decideFill({ name, isSystem: systemNames.has(name), spec, isStopped }, { userRcon });
    return { ...plan, revision: resourceVersion };
  });
  return plans.filter((plan) => !isEmpty(plan) || plan.skipped.length > 0);
}

function planLines({ name, fill: fields, skipped }: Plan): string[] {
  return [
    ...Object.entries(fields).map(([field, value]) => `${name}: fill ${field} with ${JSON.stringify(value)}`),
    ...skipped.map((why) => `${name}: skip ${why}`),
  ];
}

/** Provided that nobody has changed the server since it was read. */
async function fill(
  kube: Kube,
  { name, fill: spec, revision }: Planned,
  { namespace }: ConvergeOptions,
): Promise<string> {
  try {
    await kube.patch(
      servers,
      { name, namespace },
      { merge: { metadata: { resourceVersion: revision }, spec } },
    );
  } catch (error) {
    if (isKubeError(error, 409))
      throw new CommandError(`${name} was changed meanwhile; run svc converge again`);
    throw error;
  }
  return name;
}
