import { setTimeout as sleep } from "node:timers/promises";
import { clones, type InputOf, type OutputOf, origins } from "@svc/proto";
import { connectExternal, type External } from "../account/external.ts";
import { hint } from "../hint.ts";
import { CommandError, fields, type Outcome, UsageError } from "../output.ts";
import { ownerOf } from "./commands.ts";

type CloneOptions = {
  data: string;
  subdomain?: string;
  displayName?: string;
  node?: string;
  backup?: string;
  newBackup?: boolean;
  withoutWorld?: boolean;
  allowlist?: boolean;
  owner?: string;
  claimable?: boolean;
  wait?: boolean;
};
type World = NonNullable<InputOf<typeof clones.create>["world"]>;

/** Which world the options ask for. */
export function worldOf(options: Pick<CloneOptions, "backup" | "newBackup" | "withoutWorld">): World {
  const { backup, newBackup = false, withoutWorld = false } = options;
  if (Number(backup !== undefined) + Number(newBackup) + Number(withoutWorld) > 1)
    throw new UsageError("Give one of --backup, --new-backup and --without-world.");
  if (withoutWorld) return "none";
  return newBackup ? "new_backup" : "newest_backup";
}

/** Makes a server like another one; with `wait`, follows its world until it is there. */
export async function cloneServer(source: string, as: string, options: CloneOptions): Promise<Outcome> {
  const { data } = options;
  const world = worldOf(options);
  const external = connectExternal(data);
  const owner = options.owner === undefined ? undefined : await ownerOf(external, options.owner, data);
  const made = await external.call(clones.create, {
    name: source,
    as,
    world,
    subdomain: options.subdomain,
    displayName: options.displayName,
    nodeName: options.node,
    backup_id: options.backup,
    allowlist: options.allowlist ?? false,
    owner,
    claimable: options.claimable ?? false,
  });
  const without = made.left_out.length > 0 ? ` Not taken over: ${made.left_out.join(", ")}.` : "";
  if (made.world === "none")
    return { json: made, text: `Made ${as} like ${source}, stopped and without a world.${without}` };
  if (options.wait) return { json: await arrival(external, as), text: `${as} has its world.${without}` };
  const next = hint(data, `server origin ${as}`);
  return { json: made, text: `Made ${as} like ${source}; its world is on its way: ${next}${without}` };
}

type Origin = OutputOf<typeof origins.retry>["origin"];

const pollMs = 1_000;

async function arrival(external: External, name: string): Promise<Origin> {
  for (;;) {
    const { origin } = await external.call(origins.read, { name });
    if (origin?.state === "done") return origin;
    // It is taken up a moment after the clone was made.
    if (origin?.state === "failed" || origin?.state === "given_up")
      throw new CommandError(`${name} has no world: ${origin.message ?? origin.state}`);
    await sleep(pollMs);
  }
}

type OriginOptions = { data: string; retry?: boolean; backup?: string };

/** Shows where the world of a clone comes from; with `retry`, tries again to bring it. */
export async function showOrigin(name: string, { data, retry, backup }: OriginOptions): Promise<Outcome> {
  if (backup !== undefined && !retry) throw new UsageError("--backup goes with --retry.");
  const external = connectExternal(data);
  const { origin } = retry
    ? await external.call(origins.retry, { name, ...(backup !== undefined && { backup_id: backup }) })
    : await external.call(origins.read, { name });
  return {
    json: origin ?? null,
    text: origin ? fields(origin) : `${name} has no world from another server.`,
  };
}
