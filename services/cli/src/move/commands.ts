// `svc server-migrate` (behaviour.md q): the source stays the truth until the switch, and nothing is started by itself.

import type { Mesh } from "@svc/mesh";
import { migrations } from "@svc/proto";
import { planned, poll, sizeText, withMesh } from "../backup/ask.ts";
import type { Outcome } from "../output.ts";

export type MoveOptions = { data: string; yes?: boolean };
type Move = migrations.WorldMigration;

export async function startMove(name: string, targetNode: string, options: MoveOptions): Promise<Outcome> {
  if (!options.yes) {
    const text = `Plan: move the world of ${name} to ${targetNode}. The server must be stopped and stays so.`;
    return planned({ name, targetNode }, text);
  }
  return withMesh(options.data, async (mesh) => {
    const begun = await mesh.call(migrations.beginByOperator, { name, targetNode });
    return outcomeOf(begun.state === "failed" ? begun : await follow(mesh, begun));
  });
}

export async function showMove(name: string, { data }: MoveOptions): Promise<Outcome> {
  const move = await withMesh(data, (mesh) => mesh.call(migrations.readByOperator, { name }));
  return { json: move, text: textOf(move) };
}

export async function retryMove(name: string, { data }: MoveOptions): Promise<Outcome> {
  return withMesh(data, async (mesh) => {
    const { id } = await mesh.call(migrations.readByOperator, { name });
    return outcomeOf(await follow(mesh, await mesh.call(migrations.retryByOperator, { name, id })));
  });
}

export async function cancelMove(name: string, { data, yes }: MoveOptions): Promise<Outcome> {
  return withMesh(data, async (mesh) => {
    const move = await mesh.call(migrations.readByOperator, { name });
    if (!yes) {
      const text = `Plan: give up the move of ${name} to ${move.targetNode} and delete ${move.targetPVC}; the world stays on ${move.sourceNode}.`;
      return planned(move, text);
    }
    const given = await mesh.call(migrations.cancelByOperator, { name, id: move.id });
    return {
      json: given,
      text: `${name}: given up. The world stays on ${move.sourceNode}; it is free in a moment.`,
    };
  });
}

/** Tells each step until the move has ended. */
async function follow(mesh: Mesh, move: Move): Promise<Move> {
  const { id, server: name } = move;
  let told = "";
  return poll(async () => {
    const now = await mesh.call(migrations.readByOperator, { name });
    if (now.id !== id) return { ...move, state: "failed" as const, error: "another move has begun" };
    if (now.state !== told) process.stderr.write(`${name}: ${now.state}\n`);
    told = now.state;
    return now.state === "succeeded" || now.state === "failed" ? now : undefined;
  });
}

function outcomeOf(move: Move): Outcome {
  return { json: move, text: textOf(move), exitCode: move.state === "succeeded" ? 0 : 1 };
}

function textOf({
  server,
  state,
  stage,
  sourceNode,
  targetNode,
  sourcePVC,
  backup,
  error,
  attempt,
}: Move): string {
  if (state === "succeeded")
    return `${server}: its world is on ${targetNode}. The old volume ${sourcePVC} on ${sourceNode} is kept.`;
  if (state === "failed")
    return `${server}: the move to ${targetNode} failed at ${stage}: ${error ?? "unknown"}\nThe world is on ${sourceNode}. Try again (svc server-migrate retry ${server}) or give up (svc server-migrate cancel ${server}).`;
  const size = backup.size > 0 ? `, ${sizeText(backup.size)}` : "";
  return `${server}: ${state}, from ${sourceNode} to ${targetNode}, attempt ${attempt}${size}`;
}
