// What the replica that leads writes into the views of status pages (docs/reference/status-pages.md#public), and the minutes
// that it counts.

import type { Mesh, ViewWriter } from "@svc/mesh";
import { statusPages as contracts } from "@svc/proto";
import type { AnnouncementStore } from "../announcement/store.ts";
import type { Server } from "../cluster/resource.ts";
import { type InfoSettings, toServerInfo } from "../server/info.ts";
import {
  dayOf,
  type Facts,
  firstDay,
  type MaintenanceWindow,
  minuteAs,
  minuteOf,
  stateOf,
  toOverview,
  toStatusPage,
  toStatusServer,
} from "./rules.ts";
import type { ShownPage, StatusPageStore } from "./store.ts";

export type PublisherDeps = {
  mesh: Pick<Mesh, "writeView">;
  pages: StatusPageStore;
  announcements: Pick<AnnouncementStore, "open">;
  servers: { get: (name: string) => Server | undefined; isLive: () => boolean };
  settings: InfoSettings;
  rootDomain: string;
  now: () => number;
};

type Publisher = {
  pass: () => Promise<void>;
  /** Stops vouching for the views, for a replica that leads no longer. */
  rest: () => Promise<void>;
};

type Known = { page: ShownPage; facts: Facts };

export async function windowsOf(
  announcements: Pick<AnnouncementStore, "open">,
  now: number,
): Promise<MaintenanceWindow[]> {
  const open = await announcements.open(new Date(now));
  return open
    .filter((row) => row.maintenance && row.starts_at.getTime() <= now)
    .map((row) => ({ endsAt: row.ends_at.getTime(), isPublic: row.public }));
}

/** Undefined for a server that is gone or going. */
export function factsOf(
  { servers, settings }: Pick<PublisherDeps, "servers" | "settings">,
  { name, isRetiring }: ShownPage,
  windows: readonly MaintenanceWindow[],
): Facts | undefined {
  const server = servers.get(name);
  if (!server || server.metadata.deletionTimestamp !== undefined) return undefined;
  return { info: toServerInfo(server, settings), isRetiring, windows };
}

export function createPublisher(deps: PublisherDeps): Publisher {
  const { pages, servers, now } = deps;
  const views = createViews(deps);
  const days = createDays(deps);
  return {
    pass: async () => {
      // What is not known now stays as it was, and grows old for its readers to see.
      if (!servers.isLive()) return views.lapse();
      const at = now();
      const [shown, isOverviewShown] = await Promise.all([pages.shown(), pages.isOverviewShown()]);
      const windows = shown.length === 0 ? [] : await windowsOf(deps.announcements, at);
      const known = shown.flatMap((page): Known[] => {
        const facts = factsOf(deps, page, windows);
        return facts === undefined ? [] : [{ page, facts }];
      });
      await days.follow(known, at);
      await views.write(known, { at, isOverviewShown, daysOf: days.of });
    },
    rest: async () => {
      days.forget();
      await views.close();
    },
  };
}

type Write = {
  at: number;
  isOverviewShown: boolean;
  daysOf: (name: string) => readonly contracts.StatusDay[];
};

function createViews({ mesh, rootDomain }: PublisherDeps) {
  let writers: { pages: ViewWriter<contracts.StatusPage>; overviews: ViewWriter<contracts.StatusOverview> };
  let isOpen = false;
  let isWritten = false;
  const isCurrent = () => isWritten;
  const open = async () => {
    if (isOpen) return;
    const [pages, overviews] = await Promise.all([
      mesh.writeView(contracts.pages, { isCurrent }),
      mesh.writeView(contracts.overviews, { isCurrent }),
    ]);
    writers = { pages, overviews };
    isOpen = true;
  };
  return {
    write: async (known: readonly Known[], { at, isOverviewShown, daysOf }: Write) => {
      isWritten = false;
      await open();
      const entries = known.flatMap(({ page, facts }) => {
        const about = { rootDomain, since: page.since, days: daysOf(page.name), now: at };
        return toStatusPage(facts, about) ?? [];
      });
      await writers.pages.replace(new Map(entries.map((entry) => [entry.subdomain, entry])));
      const listed = known.flatMap(({ facts }) => toStatusServer(facts, { rootDomain }) ?? []);
      const overview = toOverview(listed, { now: at, most: contracts.mostListed });
      await writers.overviews.replace(new Map(isOverviewShown ? [[contracts.overviewKey, overview]] : []));
      isWritten = true;
    },
    lapse: () => {
      isWritten = false;
    },
    close: async () => {
      isWritten = false;
      if (!isOpen) return;
      isOpen = false;
      await Promise.all([writers.pages.close(), writers.overviews.close()]);
    },
  };
}

/** Days in memory, read once for each page that begins to be shown. */
function createDays({ pages }: PublisherDeps) {
  type Kept = { since: number; countedTo: number; days: Map<string, contracts.StatusDay> };
  const kept = new Map<string, Kept>();
  let sweptOn = "";
  const put = ({ name, ...day }: contracts.StatusDay & { name: string }) =>
    kept.get(name)?.days.set(day.day, day);

  const read = async (known: readonly Known[], at: number) => {
    const names = new Set(known.map(({ page }) => page.name));
    for (const name of kept.keys()) if (!names.has(name)) kept.delete(name);
    const missing = known.filter(({ page }) => kept.get(page.name)?.since !== page.since.getTime());
    if (missing.length === 0) return;
    const found = await pages.days(
      missing.map(({ page }) => page.name),
      firstDay(at),
    );
    for (const { page } of missing)
      kept.set(page.name, { since: page.since.getTime(), countedTo: 0, days: new Map() });
    for (const day of found) put(day);
  };
  const count = async (known: readonly Known[], at: number) => {
    const minute = minuteOf(at);
    const due = known.flatMap(({ page, facts }) => {
      const one = kept.get(page.name);
      return one && one.countedTo < minute.getTime() ? [{ one, name: page.name, facts }] : [];
    });
    const counted = due.map(({ name, facts }) => ({ name, as: minuteAs(stateOf(facts).state) }));
    for (const day of await pages.count(minute, counted)) put(day);
    for (const { one } of due) one.countedTo = minute.getTime();
  };
  const sweep = async (at: number) => {
    if (sweptOn === dayOf(at)) return;
    await pages.sweep(firstDay(at));
    const oldest = firstDay(at);
    for (const { days } of kept.values()) for (const day of days.keys()) if (day < oldest) days.delete(day);
    sweptOn = dayOf(at);
  };
  return {
    follow: async (known: readonly Known[], at: number) => {
      await read(known, at);
      await count(known, at);
      await sweep(at);
    },
    of: (name: string) => [...(kept.get(name)?.days.values() ?? [])],
    forget: () => kept.clear(),
  };
}
