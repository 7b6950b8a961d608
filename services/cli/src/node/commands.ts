// `svc node` (docs/reference/moves.md#drain).

import { parseQuantity } from "@svc/kube/quantity";
import { migrations, nodes, systemNames } from "@svc/proto";
import { connectExternal, type External } from "../account/external.ts";
import { hint } from "../hint.ts";
import { followMove } from "../move/follow.ts";
import { CommandError, type Outcome, planned, sizeText, table, UsageError } from "../output.ts";
import { stopServer, wakeAgain } from "../server/commands.ts";
import { readPages } from "../server/filter.ts";
import { type DrainPlan, type Move, type NodeServer, planDrain, whyItStays } from "./plan.ts";

type At = { data: string };
export type ListOptions = At & { memory?: string };
export type DrainOptions = At & { to?: string; leaveAsleep?: boolean; yes?: boolean };

export async function list({ data, memory }: ListOptions): Promise<Outcome> {
  const wanted = memory === undefined ? undefined : bytesIn(memory);
  if (memory !== undefined && wanted === undefined)
    throw new UsageError(`--memory ${memory}: write a size such as 8Gi or 512Mi`);
  const external = connectExternal(data);
  const [room, all] = await Promise.all([
    external.call(nodes.readRoom, {}),
    external.call(nodes.listNodes, {}),
  ]);
  const known = new Map(all.nodes.map((node) => [node.name, node]));
  const rows = room.nodes.map((one) => {
    const { name, assigned, awake, servers: count, takes_servers, cordoned } = one;
    const node = known.get(name);
    const idle = cordoned ? "cordoned" : "takes none";
    const state = node?.ready === false ? "not ready" : takes_servers ? "takes servers" : idle;
    const left = one.memory - assigned;
    const sizes = [one.memory, awake, assigned].map(sizeText);
    const fits = wanted === undefined ? [] : [takes_servers && left >= wanted ? "yes" : "no"];
    return [name, state, String(count), ...sizes, left < 0 ? `-${sizeText(-left)}` : sizeText(left), ...fits];
  });
  const head = ["NODE", "STATE", "SERVERS", "MEMORY", "AWAKE", "ALL SERVERS", "LEFT"];
  const fits = memory === undefined ? [] : [`FITS ${memory}`];
  const unassigned = `${room.unassigned} servers belong to no node; the cluster places them when they wake.`;
  const outdated = all.nodes.filter((node) => node.outdated).map((node) => node.name);
  const labels = `The labels of ${outdated.join(", ")} are of an earlier release and count for nothing; copy them: ${hint(data, "node relabel")}`;
  const text = [
    table([[...head, ...fits], ...rows]),
    ...(outdated.length > 0 ? [labels] : []),
    ...(room.unassigned > 0 ? [unassigned] : []),
  ];
  return { json: room, text: text.join("\n\n") };
}

function bytesIn(size: string): number | undefined {
  const nanos = parseQuantity(size);
  return nanos === undefined ? undefined : Number(nanos) / 1e9;
}

export async function cordon(name: string, { data }: At): Promise<Outcome> {
  const node = await connectExternal(data).call(nodes.cordon, { name });
  return {
    json: node,
    text: `${name} takes no new servers. Move those it has with: ${hint(data, `node drain ${name}`)}`,
  };
}

export async function uncordon(name: string, { data }: At): Promise<Outcome> {
  const node = await connectExternal(data).call(nodes.uncordon, { name });
  const text = node.approved
    ? `${name} takes servers again.`
    : `${name} is schedulable again, but not approved.`;
  return { json: node, text };
}

/** Each step is kept by its owner, so that a drain that was interrupted goes on when it is repeated. */
export async function drain(name: string, options: DrainOptions): Promise<Outcome> {
  const { data, to, yes } = options;
  const external = connectExternal(data);
  const room = await external.call(nodes.readRoom, {});
  for (const one of [name, to])
    if (one !== undefined && !room.nodes.some((node) => node.name === one))
      throw new CommandError(
        `node ${one} not found; nodes are ${room.nodes.map((node) => node.name).join(", ")}`,
      );
  const node = { name, ...(to !== undefined && { to }) };
  if (!yes) {
    const anew = await external.call(nodes.placeUnstarted, { ...node, dry_run: true });
    const plan = planDrain(await serversOf(external, name), room.nodes, { from: name, to, anew });
    return planned(plan, planText(name, plan));
  }
  await external.call(nodes.cordon, { name });
  const anew = await placeAnew(external, node, options);
  const now = await external.call(nodes.readRoom, {});
  const others = (await serversOf(external, name)).filter((one) => !anew.known.has(one.name));
  const plan = planDrain(others, now.nodes, { from: name, to });
  const failed: string[] = [];
  for (const move of plan.moves) if (!(await moveOne(external, move, options))) failed.push(move.name);
  const left = [...failed, ...plan.stay.map((one) => one.name), ...anew.left];
  const moved = plan.moves.length - failed.length + anew.placed;
  const text =
    left.length === 0
      ? `${name} is empty: ${moved} servers were moved. It takes no servers until: ${hint(data, `node uncordon ${name}`)}`
      : `${moved} servers were moved; ${left.join(", ")} stay on ${name}.`;
  return { json: { moved, left }, text, exitCode: left.length === 0 ? 0 : 1 };
}

async function serversOf(external: External, node: string): Promise<NodeServer[]> {
  const found = await readPages(external, { node });
  return found.map(({ name, memory = "", phase }) => ({
    ...{ name, memory: bytesIn(memory) ?? 0, isSystem: systemNames.has(name) },
    isAwake: phase !== "Stopped" && phase !== "Stopping",
  }));
}

/** Servers without a world are bound to other nodes; what is awake is stopped first and woken afterwards. */
async function placeAnew(
  external: External,
  node: { name: string; to?: string },
  { data, leaveAsleep }: DrainOptions,
): Promise<{ placed: number; left: string[]; known: Set<string> }> {
  const say = (name: string, text: string) => process.stderr.write(`${name}: ${text}\n`);
  const first = await external.call(nodes.placeUnstarted, node);
  const awake = first.stay.filter(({ reason }) => reason === "awake").map(({ name }) => name);
  for (const name of awake)
    await stopServer(name, { data, wait: true }).catch((error: Error) => say(name, error.message));
  const last = awake.length > 0 ? await external.call(nodes.placeUnstarted, node) : first;
  const placed = awake.length > 0 ? [...first.placed, ...last.placed] : first.placed;
  for (const { name, to } of placed) say(name, `is bound to ${to}; it has no world to move`);
  for (const { name, reason } of last.stay) say(name, `stays: ${whyItStays(reason)}`);
  for (const { name } of leaveAsleep ? [] : placed.filter((one) => awake.includes(one.name)))
    await wakeAgain(name, { data }).catch((error: Error) =>
      say(name, `could not be woken: ${error.message}`),
    );
  const left = last.stay.map(({ name }) => name);
  return { placed: placed.length, left, known: new Set([...left, ...placed.map(({ name }) => name)]) };
}

function planText(name: string, { unstarted, moves, stay }: DrainPlan): string {
  const wakes = (one: { isAwake: boolean }) => (one.isAwake ? ", stopped and woken" : "");
  const lines = [
    ...unstarted.map((one) => `  ${one.name} to ${one.to ?? "another node"}, without a world${wakes(one)}`),
    ...moves.map((move) => `  ${move.name} to ${move.to}${wakes(move)}`),
  ];
  const left = stay.map((one) => `  ${one.name} stays: ${one.why}`);
  const what = lines.length === 0 ? "no server can be moved" : "move its servers, one after another";
  return [`Plan: cordon ${name}; ${what}.`, ...lines, ...left].join("\n");
}

/** Whether its world is on the other node now; the server is awake again if it was. */
async function moveOne(
  external: External,
  move: Move,
  { data, leaveAsleep }: DrainOptions,
): Promise<boolean> {
  const { name, to, isAwake } = move;
  const say = (text: string) => process.stderr.write(`${name}: ${text}\n`);
  try {
    if (isAwake) await stopServer(name, { data, wait: true });
    const begun = await external.call(migrations.begin, { name, targetNode: to });
    const read = () => external.call(migrations.read, { name, id: begun.id });
    const end = await followMove(begun, { read, say });
    if (end.state === "failed") {
      say(
        `the move failed at ${end.stage}: ${end.error ?? "unknown"}. ${hint(data, `server-migrate retry ${name}`)}`,
      );
      return false;
    }
    say(`its world is on ${to}`);
  } catch (error) {
    say((error as Error).message);
    return false;
  }
  if (!isAwake || leaveAsleep) return true;
  // It is where it belongs; a player who joins wakes it, too.
  await wakeAgain(name, { data }).catch((error: Error) => say(`could not be woken: ${error.message}`));
  return true;
}
