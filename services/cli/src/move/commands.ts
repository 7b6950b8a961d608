// `svc server-migrate` (docs/reference/moves.md#failure).

import { join } from "node:path";
import { connectKube, resources } from "@svc/kube";
import { findStackFile } from "@svc/local-stack";
import type { Mesh } from "@svc/mesh";
import { backupKeeping, migrations } from "@svc/proto";
import { nodeLabels } from "@svc/proto/node-labels";
import { withMesh } from "../backup/with-mesh.ts";
import { hint } from "../hint.ts";
import { CommandError, type Outcome, planned, sizeText } from "../output.ts";
import { followMove } from "./follow.ts";

export type MoveOptions = { data: string; yes?: boolean };
type Move = migrations.WorldMigration;

export async function startMove(name: string, targetNode: string, options: MoveOptions): Promise<Outcome> {
  if (!options.yes) {
    await checkThere(name, targetNode, options.data);
    const text = `Plan: move the world of ${name} to ${targetNode}. The server must be stopped and stays stopped.`;
    return planned({ name, targetNode }, text);
  }
  return withMesh(options.data, async (mesh) => {
    const begun = await mesh.call(migrations.beginByOperator, { name, targetNode });
    const end = begun.state === "failed" ? begun : await follow(mesh, begun);
    return outcomeOf(options.data, end);
  });
}

/** Fails before a plan is printed when server or node does not exist. */
async function checkThere(name: string, targetNode: string, data: string): Promise<void> {
  const about = { names: [name], may_stop: false };
  const { servers } = await withMesh(data, (mesh) => mesh.call(backupKeeping.planBackups, about));
  if (servers.some(({ action }) => action === "skip_unknown"))
    throw new CommandError(`server ${name} not found; list servers with \`svc server list\``);
  // The kubeconfig is known only for a stack on this machine.
  const stack = findStackFile(join(data, "stack.json"));
  if (!stack) return;
  const kube = connectKube({ kubeconfigFile: stack.kubeconfig });
  const { items } = await kube.list(resources.nodes).finally(kube.close);
  const nodes = items.flatMap(({ metadata }) => metadata.labels?.[nodeLabels.identity] ?? []);
  if (!nodes.includes(targetNode))
    throw new CommandError(`node ${targetNode} not found; nodes are ${nodes.sort().join(", ")}`);
}

export async function showMove(name: string, { data }: MoveOptions): Promise<Outcome> {
  const move = await withMesh(data, (mesh) => mesh.call(migrations.readByOperator, { name }));
  return { json: move, text: textOf(data, move) };
}

export async function retryMove(name: string, { data }: MoveOptions): Promise<Outcome> {
  return withMesh(data, async (mesh) => {
    const { id } = await mesh.call(migrations.readByOperator, { name });
    const begun = await mesh.call(migrations.retryByOperator, { name, id });
    return outcomeOf(data, await follow(mesh, begun));
  });
}

export async function cancelMove(name: string, { data, yes }: MoveOptions): Promise<Outcome> {
  return withMesh(data, async (mesh) => {
    const move = await mesh.call(migrations.readByOperator, { name });
    if (!yes) {
      const text = `Plan: cancel the move of ${name} to ${move.targetNode} and delete ${move.targetPVC}; the world stays on ${move.sourceNode}.`;
      return planned(move, text);
    }
    const given = await mesh.call(migrations.cancelByOperator, { name, id: move.id });
    return {
      json: given,
      text: `${name}: move cancelled. The world stays on ${move.sourceNode} and will be unlocked in a moment.`,
    };
  });
}

function follow(mesh: Mesh, begun: Move): Promise<Move> {
  const name = begun.server;
  return followMove(begun, {
    read: () => mesh.call(migrations.readByOperator, { name }),
    say: (text) => void process.stderr.write(`${name}: ${text}\n`),
  });
}

function outcomeOf(data: string, move: Move): Outcome {
  return { json: move, text: textOf(data, move), exitCode: move.state === "succeeded" ? 0 : 1 };
}

function textOf(data: string, move: Move): string {
  const { server, state, stage, sourceNode, targetNode, sourcePVC, backup, error, attempt } = move;
  if (state === "succeeded")
    return `${server}: its world is on ${targetNode}. The old volume ${sourcePVC} on ${sourceNode} is kept.`;
  if (state === "failed") {
    const again = hint(data, `server-migrate retry ${server}`);
    const giveUp = hint(data, `server-migrate cancel ${server}`);
    return `${server}: the move to ${targetNode} failed at ${stage}: ${error ?? "unknown"}\nThe world is on ${sourceNode}. Retry (${again}) or cancel (${giveUp}).`;
  }
  const size = backup.size > 0 ? `, ${sizeText(backup.size)}` : "";
  return `${server}: ${state}, from ${sourceNode} to ${targetNode}, attempt ${attempt}${size}`;
}
