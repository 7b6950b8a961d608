import { setTimeout as sleep } from "node:timers/promises";
import {
  accounts,
  backups,
  type InputOf,
  imageChoices,
  type OutputOf,
  type ServerTag,
  servers,
  serverTemplates,
} from "@svc/proto";
import { connectExternal, type External } from "../account/external.ts";
import { isCode } from "../account/refusal.ts";
import { hint } from "../hint.ts";
import { readUser } from "../host/users.ts";
import { CommandError, fields, type Outcome, table } from "../output.ts";
import { readFleet, readOwn } from "./filter.ts";

type Data = { data: string };
type CreateOptions = Data & {
  subdomain?: string;
  policy?: "ownerOnly" | "public" | "allowlist";
  idle?: number;
  memory?: string;
  storage?: string;
  image?: string;
  node?: string;
  owner?: string;
  claimable?: boolean;
  template?: string;
};

/** Creates a stopped server; the subdomain is its name unless given. */
export async function createServer(name: string, options: CreateOptions): Promise<Outcome> {
  const { data, template } = options;
  const external = connectExternal(data);
  if (template !== undefined && external.panelHost === "panel") return createOwn(external, name, options);
  const owner = options.owner === undefined ? undefined : await ownerOf(external, options.owner, data);
  const input: InputOf<typeof servers.create> = {
    name,
    subdomain: options.subdomain ?? name,
    autostartPolicy: options.policy,
    idleStopSeconds: options.idle,
    memory: options.memory,
    storage: options.storage,
    image: options.image,
    nodeName: options.node,
    owner,
    claimable: options.claimable ?? false,
    template,
  };
  // Afterwards nobody can say why this image.
  const choice =
    options.image === undefined && template === undefined
      ? await external.call(imageChoices.suggestImage, {}).catch(() => undefined)
      : undefined;
  const created = await external.call(servers.create, input);
  const wake = hint(data, `server wake ${created.name}`);
  const why = choice === undefined ? "" : `, on ${reasonOf(choice)}`;
  return { json: created, text: `Created ${created.name}, stopped${why}. Wake it with: ${wake}` };
}

/** A server of one's own, of which the template says everything but the names. */
async function createOwn(external: External, name: string, options: CreateOptions): Promise<Outcome> {
  const { data, template = "", subdomain, ...others } = options;
  const named = ["policy", "idle", "memory", "storage", "image", "node", "owner", "claimable"] as const;
  const wrong = named.find((one) => others[one] !== undefined && others[one] !== "me");
  if (wrong !== undefined)
    throw new CommandError(`--${wrong}: the template decides it; operators can choose it beside one`);
  const made = await external.call(serverTemplates.createOwn, {
    ...{ name, template },
    ...(subdomain !== undefined && { subdomain }),
  });
  const wake = hint(data, `server wake ${made.name}`);
  return {
    json: made,
    text: `Created ${made.name} from ${template}, stopped. It is yours; wake it with: ${wake}`,
  };
}

/** `Minecraft 1.21.1: 14 of 20 players of the last 7 days have it`. */
function reasonOf({ version, players, of }: imageChoices.VersionChoice): string {
  const what = version === undefined ? "the default image" : `Minecraft ${version}`;
  if (players > 0) return `${what}: ${players} of ${of} players of the last 7 days have it`;
  const why =
    of === 0
      ? "no players in the last 7 days"
      : `no image runs what the ${of} players of the last 7 days have`;
  return `${what}: ${why}`;
}

/** Account id of `me`, or of a user by name, address or id. */
export async function ownerOf(external: External, who: string, data: string): Promise<string> {
  if (who === "me") return (await external.call(accounts.me, {})).user_id;
  return (await readUser(data, who)).id;
}

type Status = OutputOf<typeof servers.viewStatus>;

/** Wakes a server and, with `wait`, follows it until players may join. */
export async function wakeServer(
  name: string,
  options: Data & { wait?: boolean; insist?: boolean },
): Promise<Outcome> {
  const external = connectExternal(options.data);
  const accepted = await wake(external, { name, ...(options.insist && { insist: "true" as const }) });
  if (!options.wait) return { json: accepted, text: `${name} is waking.` };
  return awaitReady(external, name);
}

// Within the cooldown of its last wake a server that should run is running or starting.
async function wake(external: External, input: { name: string; insist?: "true" }) {
  const { name } = input;
  try {
    return await external.call(servers.wake, input);
  } catch (error) {
    if (!isCode(error, "cooldown")) throw error;
    const status = await external.call(servers.viewStatus, { name });
    const isWanted = status.phase === "Running" || status.phase === "Starting";
    if (!isWanted) throw error;
    return { name, desiredState: "Running" as const };
  }
}

async function awaitReady(external: External, name: string): Promise<Outcome> {
  const isSettled = ({ phase }: Status) => phase === "Running" || phase === "Failed";
  const status = await follow(external, name, isSettled);
  const isUp = status.phase === "Running";
  return {
    json: status,
    text: isUp ? `${name} is ready at ${addressOf(status)}.` : `${name} failed to start.`,
    exitCode: isUp ? 0 : 1,
  };
}

export async function stopServer(name: string, options: Data & { wait?: boolean }): Promise<Outcome> {
  const external = connectExternal(options.data);
  const accepted = await external.call(servers.stop, { name });
  if (!options.wait) {
    const status = await external.call(servers.viewStatus, { name }).catch(() => undefined);
    const text =
      status?.phase === "Stopped" ? `${name} is stopped.` : `${name} is stopping; players get 30 s notice.`;
    return { json: accepted, text };
  }
  const status = await follow(external, name, ({ phase }) => phase === "Stopped");
  return { json: status, text: `${name} has stopped.` };
}

/** Restarts a running server and follows it until players may join again. */
export async function restartServer(name: string, { data }: Data): Promise<Outcome> {
  const external = connectExternal(data);
  const { restart_at } = await external.call(servers.restart, { name });
  const waitMs = Date.parse(restart_at) - Date.now();
  if (waitMs > 0) process.stderr.write(`${name}: players get ${Math.ceil(waitMs / 1_000)} s notice\n`);
  // A start may be shorter than the time between two polls.
  const mostMs = waitMs + longestPassMs;
  const begun = Date.now();
  await follow(external, name, ({ phase }) => phase !== "Running" || Date.now() - begun > mostMs);
  return awaitReady(external, name);
}

/** Wakes a server that ran a moment ago, and waits for the wake cooldown and until players may join. */
export async function wakeAgain(name: string, { data }: Data): Promise<Outcome> {
  const external = connectExternal(data);
  for (;;) {
    try {
      await external.call(servers.wake, { name });
      return await awaitReady(external, name);
    } catch (error) {
      if (!isCode(error, "cooldown")) throw error;
      process.stderr.write(`${name}: waiting for the wake cooldown\n`);
      await sleep((error.retryAfterSeconds ?? 1) * 1_000);
    }
  }
}

/** Begins a backup of the world of a stopped server. */
export async function backUpServer(name: string, { data }: Data): Promise<Outcome> {
  const begun = await connectExternal(data).call(backups.create, { name });
  return { json: begun, text: `The backup of ${name} has begun.` };
}

export async function serverStatus(name: string, { data }: Data): Promise<Outcome> {
  const status = await connectExternal(data).call(servers.viewStatus, { name });
  return { json: status, text: fields(readable(status)) };
}

/** Lists and records of a status as people read them. */
export function readable({ tags, startEstimate, ...others }: Readable): object {
  return {
    ...others,
    ...(tags && { tags: tags.map((tag) => `${tag.name} (${tag.colour})`).join(", ") }),
    ...(startEstimate && { starts: `within ${startEstimate.p50} s mostly, ${startEstimate.p95} s at times` }),
  };
}

type Readable = {
  name?: string;
  tags?: readonly ServerTag[] | undefined;
  startEstimate?: { p50: number; p95: number } | undefined;
};

/** Operators see every server; players those they own or may claim. */
export async function listServers({ data, ...narrowed }: Data & Narrowed): Promise<Outcome> {
  const external = connectExternal(data);
  if (external.panelHost === "panel") return listOwn(external, narrowed);
  const items = withTag(await readFleet(external, narrowed.filter), narrowed.tag);
  const head = ["NAME", "PHASE", "PLAYERS", "ADDRESS", "OWNER", "TAGS"];
  const lines = items.map((row) => [
    row.name,
    row.phase,
    `${row.playersOnline}/${row.playersMax}`,
    addressOf(row),
    row.ownerPlayer ?? row.owner ?? (row.claimable ? "- (claimable)" : "-"),
    tagsOf(row),
  ]);
  return {
    json: items,
    text: lines.length === 0 ? noneOf(narrowed, "There are no servers yet.") : table([head, ...lines]),
  };
}

type Narrowed = { tag?: string; filter?: string };
type Tagged = { tags?: ServerTag[] | undefined };

// As the service stores them (docs/reference/server-resource.md#tags).
function withTag<Row extends Tagged>(rows: Row[], tag: string | undefined): Row[] {
  const wanted = tag?.trim().toLowerCase();
  if (wanted === undefined) return rows;
  return rows.filter(({ tags }) => tags?.some(({ name }) => name === wanted));
}

function tagsOf({ tags = [] }: Tagged): string {
  return tags.map(({ name }) => name).join(", ") || "-";
}

function noneOf({ tag, filter }: Narrowed, text: string): string {
  if (filter !== undefined) return `The filter ${filter} finds no server.`;
  return tag === undefined ? text : `There is no server with the tag ${tag}.`;
}

async function listOwn(external: External, narrowed: Narrowed): Promise<Outcome> {
  const items = withTag(await readOwn(external, narrowed.filter), narrowed.tag);
  const head = ["NAME", "PHASE", "PLAYERS", "YOURS", "TAGS"];
  const lines = items.map((row) => [
    row.name,
    row.phase ?? "-",
    `${row.playersOnline}/${row.playersMax}`,
    row.owned ? "yes" : row.claimable ? "claimable" : "shared",
    tagsOf(row),
  ]);
  return {
    json: items,
    text: lines.length === 0 ? noneOf(narrowed, "You have no servers yet.") : table([head, ...lines]),
  };
}

const pollMs = 500;
/** From when a restart is due until the phase says so. */
const longestPassMs = 20_000;

async function follow(
  external: External,
  name: string,
  isDone: (status: Status) => boolean,
): Promise<Status> {
  let lastPhase = "";
  for (;;) {
    const status = await external.call(servers.viewStatus, { name });
    if (status.phase !== lastPhase) process.stderr.write(`${name}: ${status.phase}\n`);
    lastPhase = status.phase;
    if (isDone(status)) return status;
    await sleep(pollMs);
  }
}

/** Where it can be joined; the address of one that sleeps is that of another server, its fallback. */
function addressOf(status: Status): string {
  if (status.phase !== "Running") return "-";
  return "endpointAddress" in status && status.endpointAddress ? status.endpointAddress : "-";
}
