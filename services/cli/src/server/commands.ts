import { type InputOf, type OutputOf, servers } from "@svc/proto";
import { explain, externalClient } from "../account/session.ts";
import { type Outcome, table } from "../output.ts";

export type CreateOptions = {
  data: string;
  subdomain?: string;
  policy?: "ownerOnly" | "public" | "allowlist";
  idle?: number;
  memory?: string;
  storage?: string;
  image?: string;
  node?: string;
};

/** Creates a stopped server; the subdomain is its name unless given. */
export async function createServer(name: string, options: CreateOptions): Promise<Outcome> {
  const input: InputOf<typeof servers.create> = {
    name,
    subdomain: options.subdomain ?? name,
    autostartPolicy: options.policy,
    idleStopSeconds: options.idle,
    memory: options.memory,
    storage: options.storage,
    image: options.image,
    nodeName: options.node,
  };
  const created = await externalClient(options.data).call(servers.create, input).catch(explain);
  return {
    json: created,
    text: `${created.name} is created and asleep. Wake it with: npm run svc -- server wake ${created.name}`,
  };
}

type Status = OutputOf<typeof servers.viewStatus>;

/** Wakes a server and, with `wait`, follows it until players may join. */
export async function wakeServer(name: string, options: { data: string; wait?: boolean }): Promise<Outcome> {
  const client = externalClient(options.data);
  const accepted = await client.call(servers.wake, { name }).catch(explain);
  if (!options.wait) return { json: accepted, text: `${name} is waking.` };
  const status = await follow(
    options.data,
    name,
    (seen) => seen.phase === "Running" || seen.phase === "Failed",
  );
  const isUp = status.phase === "Running";
  return {
    json: status,
    text: isUp ? `${name} is ready at ${addressOf(status)}.` : `${name} failed to start.`,
    exitCode: isUp ? 0 : 1,
  };
}

export async function stopServer(name: string, options: { data: string; wait?: boolean }): Promise<Outcome> {
  const accepted = await externalClient(options.data).call(servers.stop, { name }).catch(explain);
  if (!options.wait) return { json: accepted, text: `${name} is stopping; players are told 30 s before.` };
  const status = await follow(options.data, name, (seen) => seen.phase === "Stopped");
  return { json: status, text: `${name} has stopped.` };
}

export async function serverStatus(name: string, options: { data: string }): Promise<Outcome> {
  const status = await externalClient(options.data).call(servers.viewStatus, { name }).catch(explain);
  return { json: status, text: describe(status) };
}

export async function listServers(options: { data: string }): Promise<Outcome> {
  const { items: rows } = await externalClient(options.data).call(servers.fleet, {}).catch(explain);
  const head = ["NAME", "PHASE", "PLAYERS", "ADDRESS", "OWNER"];
  const lines = rows.map((row) => [
    row.name,
    row.phase,
    `${row.playersOnline}/${row.playersMax}`,
    addressOf(row),
    row.owner ?? "-",
  ]);
  return { json: rows, text: lines.length === 0 ? "There are no servers yet." : table([head, ...lines]) };
}

async function follow(data: string, name: string, isDone: (status: Status) => boolean): Promise<Status> {
  const client = externalClient(data);
  let lastPhase = "";
  for (;;) {
    const status = await client.call(servers.viewStatus, { name }).catch(explain);
    if (status.phase !== lastPhase) process.stderr.write(`${name}: ${status.phase}\n`);
    lastPhase = status.phase;
    if (isDone(status)) return status;
    await new Promise((wake) => setTimeout(wake, 500));
  }
}

function addressOf(status: Status): string {
  return "endpointAddress" in status && status.endpointAddress ? status.endpointAddress : "-";
}

function describe(status: Status): string {
  return Object.entries(status)
    .map(
      ([key, value]) =>
        `${key.padEnd(18)} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`,
    )
    .join("\n");
}
