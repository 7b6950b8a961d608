// A platform as it may look after a few weeks: people, servers, worlds, backups and schedules, made by the API.

import { until } from "@svc/local-stack/testing";
import { offlineUuid } from "@svc/minecraft";
import pg from "pg";
import { join, type Player } from "../../flow/player.ts";
import type { Stack } from "../../flow/stack.ts";
import type { Person } from "../person.ts";

type Send = (method: string, path: string, body?: unknown) => Promise<unknown>;

/** Sends requests as the person who is signed in on the page; none may be refused. */
export function senderOf({ request }: Person): Send {
  return async (method, path, body) => {
    const reply = await request(method, path, body);
    if (reply.status >= 400)
      throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body;
  };
}

const users = [
  { username: "lena", email: "lena@example.net", role: "user" },
  { username: "tomas.novak", email: "tomas@example.net", role: "user" },
  { username: "mei-lin", email: "meilin@example.net", role: "user" },
  { username: "nora", email: "nora@example.net", role: "admin" },
  { username: "kids-club", role: "user" },
] as const;

type ServerContent = { name: string; displayName: string; owner?: string; autostartPolicy?: string };

const servers: readonly ServerContent[] = [
  { name: "survival", displayName: "Survival", owner: "lena" },
  { name: "creative", displayName: "Creative Plots", owner: "lena" },
  { name: "skyblock", displayName: "Skyblock 2026", owner: "lena", autostartPolicy: "allowlist" },
  { name: "xingkong", displayName: "星空生存", owner: "mei-lin" },
  { name: "bedwars", displayName: "Bed Wars", owner: "tomas.novak" },
  { name: "redstone-lab", displayName: "Redstone Lab", owner: "tomas.novak", autostartPolicy: "ownerOnly" },
  { name: "kids-garden", displayName: "Kids’ Garden", owner: "kids-club", autostartPolicy: "allowlist" },
  { name: "summer-event", displayName: "Summer Event" },
];

const players: Readonly<Record<string, readonly string[]>> = {
  survival: ["lena_mc", "Alex_builds", "kuro_neko"],
  xingkong: ["MeiLin"],
};

type Content = { players: readonly Player[]; lena: { playerId: string } };

export async function makeContent(stack: Stack, send: Send): Promise<Content> {
  const ids = new Map<string, string>();
  for (const user of users) {
    const { id } = (await send("POST", "/users", user)) as { id: string };
    ids.set(user.username, id);
  }
  const lena = { playerId: offlineUuid("lena_mc") };
  const links = { lena: "lena_mc", "mei-lin": "MeiLin", "tomas.novak": "Tomas_N" };
  for (const [name, player] of Object.entries(links))
    await send("POST", `/users/${ids.get(name)}/links`, {
      mc_uuid: offlineUuid(player),
      auth_source: "thirdparty",
    });
  for (const { owner, ...server } of servers) {
    const subdomain = server.name;
    const given = { autostartPolicy: "public", ...server, ...(owner && { owner: ids.get(owner) }) };
    await send("POST", "/servers", { ...given, subdomain });
  }
  await fillWorld(stack, send);
  await fillPlatform(stack);
  await Promise.all(Object.keys(players).map((name) => wake(stack, send, name)));
  for (const [name, joining] of Object.entries(players))
    for (const player of joining) await reportJoin(stack, name, player);
  const on = await Promise.all(
    Object.entries(players).map(async ([name, joining]) => {
      const address = String((await statusOf(stack, name)).endpointAddress);
      const joined: Player[] = [];
      for (const player of joining) joined.push(await join(address, player));
      return joined;
    }),
  );
  await send("POST", "/servers/survival/command", { command: "say The castle gate opens at 18:00" });
  await send("POST", "/servers/survival/command", { command: "whitelist add Tomas_N" });
  return { players: on.flat(), lena };
}

const reportJoin = (stack: Stack, name: string, player: string) =>
  stack.internal("POST", `/api/v1/internal/servers/${name}/join-event`, {
    mc_uuid: offlineUuid(player),
    player_name: player,
  });

type Status = { phase: string; ready?: boolean; endpointAddress?: string };

async function statusOf(stack: Stack, name: string): Promise<Status> {
  return (await stack.internal("GET", `/api/v1/internal/servers/${name}/status`)).body as Status;
}

async function wake(stack: Stack, send: Send, name: string): Promise<void> {
  await send("POST", `/servers/${name}/wake`);
  await until(async () => (await statusOf(stack, name)).phase === "Running", 120_000, `${name} to run`);
}

const worldFiles: Readonly<Record<string, string>> = {
  "plugins/Essentials/config.yml": "ops-name-color: none\nteleport-cooldown: 3\nspawn-on-death: true\n",
  "plugins/README.txt": "Plugins of this server.\n",
  "datapacks/islands/pack.mcmeta": '{ "pack": { "pack_format": 61, "description": "More islands" } }\n',
  "rules.txt": "1. Be kind.\n2. No griefing.\n3. Shared farms are for everybody.\n",
  "motd 欢迎.txt": "Welcome! 欢迎！\n",
};

/** Skyblock sleeps: its world has files, three backups of several weeks, and schedules. */
async function fillWorld(stack: Stack, send: Send): Promise<void> {
  await wake(stack, send, "skyblock");
  await send("POST", "/servers/skyblock/stop");
  await until(async () => (await statusOf(stack, "skyblock")).phase === "Stopped", 60_000);
  const world = "/servers/skyblock";
  for (const folder of ["plugins", "plugins/Essentials", "datapacks", "datapacks/islands"])
    await send("POST", `${world}/files/mkdir?path=${encodeURIComponent(folder)}`, {});
  for (const [path, text] of Object.entries(worldFiles)) {
    const bytes = Buffer.from(text);
    const digest = Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
    const body = { content: bytes.toString("base64"), content_sha256: digest };
    await send("PUT", `${world}/file?path=${encodeURIComponent(path)}`, body);
  }
  const labels = ["before the nether update", "castle finished", "", "market day"];
  for (const [at, label] of labels.entries()) {
    await until(async () => {
      await send("POST", `${world}/backup`).catch(() => undefined);
      return (await backupsOf(send)).length > at;
    }, 120_000);
    const [newest] = await backupsOf(send);
    if (newest && label !== "") await send("PATCH", `/backups/${newest.id}`, { label });
    await ageBackups(stack);
  }
  const [pinned] = (await backupsOf(send)).toReversed();
  if (pinned) await send("PATCH", `/backups/${pinned.id}`, { pinned: true });
  const zone = { timezone: "Europe/Berlin", weekdays: 127 };
  const tasks = [
    { ...zone, action: "restart", label: "Nightly restart", minute_of_day: 240, warn_minutes: 5 },
    { ...zone, action: "backup", label: "Weekend backup", minute_of_day: 1_380, weekdays: 65 },
    { ...zone, action: "command", label: "", command: "say Remember to drink water", every_minutes: 60 },
  ];
  for (const task of tasks) await send("POST", `${world}/schedules`, task);
}

async function backupsOf(send: Send): Promise<{ id: string }[]> {
  return ((await send("GET", "/backups?server=skyblock")) as { backups: { id: string }[] }).backups;
}

const components = [
  { name: "platform", state: "current", current: "0.1.0" },
  { name: "proxy", state: "current", current: "0.1.0" },
  { name: "postgresql", state: "available", current: "18.4", latest: "18.5", note: "18.5 repairs a crash." },
  { name: "nats", state: "current", current: "2.12.1" },
  { name: "node", state: "pinned", current: "24.11.0" },
  { name: "kubernetes", state: "current", current: "v1.34.1" },
];

/** A bundle that was rehearsed, and a report of updates. */
async function fillPlatform(stack: Stack): Promise<void> {
  await stack.svc("db", "backup", "--label", "daily");
  await stack.svc("db", "rehearse");
  const listed = components.map((component) => ({ ...component, selector: `--${component.name}` }));
  const client = new pg.Client(stack.file().database_url);
  await client.connect();
  await client
    .query(
      "update identity.users set email = 'owner@example.net', email_verified = true where role = 'owner'",
    )
    .then(() => stack.svc("watchdog"));
  await client
    .query(
      "insert into ops_watchdog.update_reports (checked_at, version, components) values (now(), '0.1.0', $1)",
      [JSON.stringify(listed)],
    )
    .finally(() => client.end());
}

/** Each new backup makes those before it five days older, and the cooldown ends. */
async function ageBackups(stack: Stack): Promise<void> {
  const client = new pg.Client(stack.file().database_url);
  await client.connect();
  const older =
    "update storage.world_backups set created_at = created_at - interval '5 days 3 hours 20 minutes'";
  await client.query(older).finally(() => client.end());
}
