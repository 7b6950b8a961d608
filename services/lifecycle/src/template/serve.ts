import { auditActor, type Context, type Handler, type Mesh } from "@svc/mesh";
import { type AnyContract, serverTemplates as contracts, Fault, quotas, servers } from "@svc/proto";
import { leftOutOf } from "../clone/spec.ts";
import type { LifecycleStore } from "../database/schema.ts";
import { create, createServer } from "../server/create.ts";
import { findByUserName, type ServerDeps } from "../server/deps.ts";
import { checkImages } from "./check-images.ts";
import { settingsOf } from "./from-server.ts";
import { decideSave, readTemplate, type Written } from "./input.ts";
import { offerOf } from "./offer.ts";
import { createTemplateStore, type TemplateStore } from "./store.ts";

type Deps = ServerDeps & { templates: TemplateStore };

/** Templates, and the creation of servers with and without one (docs/reference/server-templates.md). */
export function serveTemplates(
  mesh: Pick<Mesh, "serve">,
  serverDeps: ServerDeps,
  database: LifecycleStore,
): void {
  const templates = createTemplateStore(database);
  const deps: Deps = { ...serverDeps, templates };
  const find = async (name: string) => {
    const template = await templates.find(name);
    if (!template) throw new Fault("template_not_found");
    return template;
  };
  mesh.serve(contracts.list, async (context) => ({
    templates: await checked(deps, context, await templates.list()),
    limit: contracts.mostTemplates,
  }));
  mesh.serve(contracts.read, (_context, { name }) => find(name));
  mesh.serve(contracts.draft, async (_context, { name }) => {
    const { spec } = await findByUserName(deps, name);
    return { settings: settingsOf(spec), left_out: leftOutOf(spec) };
  });
  mesh.serve(contracts.save, save(deps));
  mesh.serve(contracts.remove, async (context, { name }) => {
    const payload = { template: name };
    await templates.remove(name, { ...auditActor(context), action: "template.delete", payload });
    return null;
  });
  mesh.serve(contracts.listOffered, listOffered(deps));
  mesh.serve(servers.create, create(deps, find));
  mesh.serve(contracts.createOwn, async (context, { template: named, ...names }) => {
    const template = await find(named);
    // One that is not offered is not there for accounts.
    if (!template.offered) throw context.fault("template_not_found");
    const owner = accountOf(context).user_id;
    const input = { ...names, subdomain: names.subdomain ?? names.name, owner, claimable: false };
    return createServer(deps, context, { input, template, isOwn: true });
  });
}

const save =
  ({ templates, settings }: Deps): Handler<typeof contracts.save> =>
  (context, { revision, ...given }) => {
    const read = readTemplate(given, settings);
    if (read.kind === "refused") throw context.fault("bad_template", { message: read.message });
    const { written } = read;
    return templates.save({
      written,
      by: accountOf(context).username,
      decide: (before) => decideSave(before && writtenOf(before), written, revision),
      // Variables may be secrets.
      auditOf: (saved) => ({
        ...{ ...auditActor(context), action: "template.save" },
        payload: {
          ...{ template: written.name, revision: saved, offered: written.offered },
          ...{ image: written.settings.image ?? "", settings: Object.keys(written.settings) },
        },
      }),
    });
  };

function writtenOf(template: contracts.ServerTemplate): Written & { revision: number } {
  const { name, title, description, offered, settings, revision } = template;
  return { name, title, description, offered, settings, revision };
}

const listOffered =
  ({ mesh, templates, settings }: Deps): Handler<typeof contracts.listOffered> =>
  async (context) => {
    const { user_id } = accountOf(context);
    const offered = (await templates.list()).filter((template) => template.offered);
    const [{ limits }, { used, made }, shown] = await Promise.all([
      mesh.call(quotas.readLimits, { user_id }, context),
      templates.usage(user_id),
      checked({ mesh }, context, offered),
    ]);
    const left = Math.max(0, settings.servers_made_per_account - made);
    const offers = shown.map((template) => offerOf(template, { limits, used, left }, settings));
    return { templates: offers.filter((offer) => offer !== undefined), left };
  };

/** Each with what is wrong with its image. */
async function checked(
  { mesh }: Pick<Deps, "mesh">,
  context: Context<AnyContract>,
  templates: readonly contracts.ServerTemplate[],
): Promise<contracts.ListedTemplate[]> {
  const problems = await checkImages(
    mesh,
    context,
    templates.map(({ settings }) => settings.image),
  );
  return templates.map((template) => {
    const problem = problems.get(template.settings.image ?? "");
    return { ...template, ...(problem !== undefined && { problem }) };
  });
}

function accountOf({ principal }: Context<AnyContract>): { user_id: string; username: string } {
  if (principal.kind !== "account") throw new Fault("forbidden");
  return principal;
}
