// identity and builds as this service calls them, on the real mesh under their own names.

import type { Mesh } from "@svc/mesh";
import { accounts, type InputOf, images, links, notices, type OutputOf, quotas, settings } from "@svc/proto";

type Limits = OutputOf<typeof quotas.readLimits>["limits"];

/** What identity would say; tests change it. */
export type People = {
  links: Map<string, { user_id: string; role: "owner" | "admin" | "user" }>;
  limits: Map<string, Limits>;
  disabled: Set<string>;
  /** Runs on a request for limits, after the answer was computed and before it is sent. */
  onLimits: (() => Promise<void>) | undefined;
  isAway: boolean;
  /** Requests for a server's activity. */
  activity: InputOf<typeof settings.listActivity>[];
  /** What they are answered. */
  entries: settings.ActivityEntry[];
  /** Verified addresses by account. */
  addresses: Map<string, string>;
  /** Mails to accounts. */
  mailed: InputOf<typeof notices.sendNotice>[];
  /** Invitations that were mailed. */
  invited: InputOf<typeof notices.sendInvitation>[];
};

/** What builds would say: `name:tag` or `name:*`, and the digests that tags name now. */
export type Library = {
  whitelist: string[];
  pins: Map<string, string>;
  /** Versions that images say themselves; of others their tag counts. */
  labels: Map<string, string>;
  /** What is listed where that differs from what is admitted. */
  lists?: string[] | undefined;
  isAway: boolean;
};

export const noLimits: Limits = {
  max_servers: null,
  max_cpu_milli: null,
  max_memory_mb: null,
  max_storage_gb: null,
};

export async function serveIdentity(mesh: Mesh): Promise<People> {
  const people: People = {
    links: new Map(),
    limits: new Map(),
    disabled: new Set(),
    onLimits: undefined,
    isAway: false,
    activity: [],
    entries: [],
    addresses: new Map(),
    mailed: [],
    invited: [],
  };
  mesh.serve(settings.listActivity, (_context, input) => {
    people.activity.push(input);
    return { entries: people.entries, next: "1-1" };
  });
  mesh.serve(accounts.findLink, (context, { mc_uuid }) => {
    if (people.isAway) throw context.fault("unavailable");
    return { account: people.links.get(mc_uuid) ?? null };
  });
  mesh.serve(accounts.listLinks, (context, { user_id }) => {
    if (people.isAway) throw context.fault("unavailable");
    const linked = [...people.links].filter(([, account]) => account.user_id === user_id);
    return { mc_uuids: linked.map(([uuid]) => uuid) };
  });
  mesh.serve(accounts.nameAccounts, (context, { user_ids }) => {
    if (people.isAway) throw context.fault("unavailable");
    const linked = (id: string) => [...people.links].filter(([, { user_id }]) => user_id === id);
    return {
      names: Object.fromEntries(user_ids.map((id) => [id, `${id}@example.org`])),
      players: Object.fromEntries(user_ids.map((id) => [id, linked(id).map(([uuid]) => uuid)])),
    };
  });
  mesh.serve(accounts.describeAccounts, (context, { user_ids }) => {
    if (people.isAway) throw context.fault("unavailable");
    const linked = (id: string) => [...people.links].filter(([, { user_id }]) => user_id === id);
    const usable = user_ids.filter((id) => !people.disabled.has(id));
    const describe = (id: string) => {
      const email = people.addresses.get(id);
      return {
        username: id,
        ...(email !== undefined && { email }),
        mc_uuids: linked(id).map(([uuid]) => uuid),
      };
    };
    return { accounts: Object.fromEntries(usable.map((id) => [id, describe(id)])) };
  });
  mesh.serve(notices.sendNotice, (context, input) => {
    if (people.isAway) throw context.fault("unavailable");
    people.mailed.push(input);
    return { result: "delivered" as const };
  });
  mesh.serve(notices.sendInvitation, (context, input) => {
    if (people.isAway) throw context.fault("unavailable");
    people.invited.push(input);
    return { result: "delivered" as const };
  });
  mesh.serve(links.namePlayers, (context, { mc_uuids }) => {
    if (people.isAway) throw context.fault("unavailable");
    const named = mc_uuids.flatMap((uuid) => {
      const account = people.links.get(uuid);
      return account ? [[uuid, account.user_id] as const] : [];
    });
    return { names: Object.fromEntries(named) };
  });
  mesh.serve(quotas.readLimits, async (context, { user_id }) => {
    if (people.isAway) throw context.fault("unavailable");
    const answer = { limits: people.limits.get(user_id) ?? noLimits, active: !people.disabled.has(user_id) };
    await people.onLimits?.();
    return answer;
  });
  await mesh.announce();
  return people;
}

export async function serveBuilds(mesh: Mesh): Promise<Library> {
  const whitelist = ["svc.local/demo-server:1.21.4", "svc.local/nothing:*"];
  const library: Library = { whitelist, pins: new Map(), labels: new Map(), isAway: false };
  mesh.serve(images.admitImage, (context, { image_ref }) => {
    if (library.isAway) throw context.fault("registry_unavailable");
    const tagged = image_ref.replace(/@sha256:[0-9a-f]{64}$/, "");
    const open = `${tagged.replace(/:[^/:]*$/, "")}:*`;
    if (!library.whitelist.some((entry) => entry === tagged || entry === open)) {
      throw context.fault("image_not_whitelisted");
    }
    const pin = library.pins.get(tagged);
    return { image_ref: pin === undefined ? image_ref : `${tagged}@${pin}` };
  });
  mesh.serve(images.listVersions, (context, { repository }) => {
    if (library.isAway) throw context.fault("registry_unavailable");
    const refs = (library.lists ?? library.whitelist).filter(
      (entry) => entry.startsWith(`${repository}:`) && !entry.endsWith(":*"),
    );
    const versionOf = (ref: string) => library.labels.get(ref) ?? ref.slice(repository.length + 1);
    return { images: refs.map((image_ref) => ({ image_ref, version: versionOf(image_ref) })) };
  });
  await mesh.announce();
  return library;
}
