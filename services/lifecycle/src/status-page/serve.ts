import { auditActor, type Context, type Handler, type Mesh } from "@svc/mesh";
import { type AnyContract, statusPages as contracts, Fault } from "@svc/proto";
import { startLoop } from "@svc/service/loop";
import type { Logger } from "@svc/telemetry";
import { assertAccess } from "../access/assert.ts";
import { createAnnouncementStore } from "../announcement/store.ts";
import type { Server } from "../cluster/resource.ts";
import type { LifecycleStore } from "../database/schema.ts";
import { findByUserName, type ServerDeps } from "../server/deps.ts";
import { createPublisher, factsOf, type PublisherDeps, windowsOf } from "./publisher.ts";
import { firstDay, toOverview, toStatusPage, toStatusServer } from "./rules.ts";
import { createStatusPageStore } from "./store.ts";

type StatusPageNeeds = {
  mesh: Mesh;
  deps: ServerDeps;
  database: LifecycleStore;
  log: Logger;
  rootDomain: string;
  /** Whether this replica reconciles: it alone publishes. */
  isLeading: () => boolean;
};

/** Serves the operations and publishes until closed. */
export function startStatusPages(needs: StatusPageNeeds): { close: () => Promise<void> } {
  const { mesh, deps, database, log, rootDomain, isLeading } = needs;
  const publishing: PublisherDeps = {
    ...{ mesh, rootDomain, servers: deps.servers, settings: deps.settings, now: Date.now },
    pages: createStatusPageStore(database),
    announcements: createAnnouncementStore(database),
  };
  const publisher = createPublisher(publishing);
  const loop = startLoop(() => (isLeading() ? publisher.pass() : publisher.rest()), {
    everyMs: deps.settings.status_page_tick,
    onError: (error) =>
      log.warn({ error: error.message }, "publishing status pages failed; retrying with the next tick"),
  });
  serve(mesh, { ...publishing, server: deps, onChange: loop.ring });
  return {
    close: async () => {
      await loop.close();
      await publisher.rest().catch(() => {});
    },
  };
}

type Deps = PublisherDeps & { server: ServerDeps; onChange: () => void };

function serve(mesh: Pick<Mesh, "serve">, deps: Deps): void {
  mesh.serve(contracts.read, read(deps));
  mesh.serve(contracts.write, write(deps));
  mesh.serve(contracts.readOverall, () => overall(deps));
  mesh.serve(contracts.writeOverall, writeOverall(deps));
  // Gateways answer these from their copies of the views; they ask while they have none.
  mesh.serve(contracts.readPage, readPage(deps));
  mesh.serve(contracts.readOverview, readOverview(deps));
}

const read =
  (deps: Deps): Handler<typeof contracts.read> =>
  async (context, { name }) => {
    const server = await findByUserName(deps.server, name);
    assertAccess(context, { name, row: await deps.server.store.find(name), to: contracts.read });
    return toShown(deps, server);
  };

const write =
  (deps: Deps): Handler<typeof contracts.write> =>
  async (context, { name, public: isPublic }) => {
    const server = await findByUserName(deps.server, name);
    const row = await deps.server.store.find(name);
    assertAccess(context, { name, row, to: contracts.write });
    await deps.pages.show(name, {
      ...{ isPublic, ownerId: row?.ownerId, now: new Date(deps.now()), by: byOf(context) },
      audit: {
        ...auditActor(context),
        ...{ action: "server.status_page", server_name: name, payload: { public: isPublic } },
      },
    });
    deps.onChange();
    return toShown(deps, server);
  };

async function toShown({ pages, rootDomain }: Deps, { metadata, spec }: Server): Promise<contracts.Shown> {
  const [page, listed] = await Promise.all([pages.shownOf(metadata.name), pages.isOverviewShown()]);
  const { subdomain } = spec;
  return {
    public: page !== undefined,
    ...(page && { since: page.since.toISOString() }),
    ...{ subdomain, address: `${subdomain}.${rootDomain}`, listed },
  };
}

const writeOverall =
  (deps: Deps): Handler<typeof contracts.writeOverall> =>
  async (context, { public: isPublic }) => {
    const audit = { ...auditActor(context), action: "platform.status_page", payload: { public: isPublic } };
    await deps.pages.showOverview({ isPublic, now: new Date(deps.now()), by: byOf(context), audit });
    deps.onChange();
    return overall(deps);
  };

async function overall({ pages }: Deps) {
  const [isPublic, shown] = await Promise.all([pages.isOverviewShown(), pages.shown()]);
  return { public: isPublic, servers: shown.length };
}

function byOf({ principal }: Context<AnyContract>): string {
  if (principal.kind !== "account") throw new Fault("forbidden");
  return principal.username;
}

function assertListed({ servers }: Deps): void {
  if (!servers.isLive()) throw new Fault("unavailable");
}

// One that is not shown is refused in the words of one that is not there.
const readPage =
  (deps: Deps): Handler<typeof contracts.readPage> =>
  async (_context, { subdomain }) => {
    assertListed(deps);
    const at = deps.now();
    const server = deps.server.servers.list().find(({ spec }) => spec.subdomain === subdomain);
    const page = server && (await deps.pages.shownOf(server.metadata.name));
    if (!page) throw new Fault("not_found");
    const [windows, days] = await Promise.all([
      windowsOf(deps.announcements, at),
      deps.pages.days([page.name], firstDay(at)),
    ]);
    const about = { rootDomain: deps.rootDomain, since: page.since, now: at };
    const kept = days.map(({ name: _name, ...day }) => day);
    const facts = factsOf(deps, page, windows);
    const shown = facts && toStatusPage(facts, { ...about, days: kept });
    if (!shown) throw new Fault("not_found");
    return shown;
  };

const readOverview =
  (deps: Deps): Handler<typeof contracts.readOverview> =>
  async () => {
    assertListed(deps);
    const at = deps.now();
    if (!(await deps.pages.isOverviewShown())) throw new Fault("not_found");
    const [shown, windows] = await Promise.all([deps.pages.shown(), windowsOf(deps.announcements, at)]);
    const listed = shown.flatMap((page) => {
      const facts = factsOf(deps, page, windows);
      return (facts && toStatusServer(facts, deps)) ?? [];
    });
    return toOverview(listed, { now: at, most: contracts.mostListed });
  };
