// Setting aside what changed since the last good start (docs/reference/crashes.md#safe-start).

import type { Handler, Mesh } from "@svc/mesh";
import { setAsides as contracts, Fault, isFault, type Principal, worlds } from "@svc/proto";
import type { AsideFile, Since } from "@svc/proto/world-task";
import { assertMayAccess, mayAccess } from "../access.ts";
import type { WorldServer } from "../job/world.ts";
import type { FileDeps } from "./deps.ts";
import { answerLarge } from "./large-answer.ts";
import { openWorld } from "./open-world.ts";
import { runOnWorld } from "./run-on-world.ts";

/** What a set may have: a member whose paths are limited needs all of it. */
const reach = ["plugins", "mods", "config"] as const;
/** Where sets lie in a world. */
const setsFolder = ".svc/set-aside";

export function serveSetAside(mesh: Pick<Mesh, "serve">, deps: FileDeps): void {
  mesh.serve(contracts.read, read(deps));
  mesh.serve(contracts.begin, begin(deps));
  mesh.serve(contracts.putBack, putBack(deps));
}

const read =
  (deps: FileDeps): Handler<typeof contracts.read> =>
  async (context, { name }) => {
    const { principal } = context;
    await openWorld(deps, { principal, server: name, to: contracts.read, reads: reach });
    const since = await sinceOf(deps, name);
    const task = { mode: "changed", ...(since && { since }) } as const;
    const done = await runOnWorld(deps, {
      ...context,
      ...{ server: name, to: contracts.read, reads: reach, task },
    });
    return answerLarge(deps, context, {
      ...(since && { since: new Date(since.at).toISOString() }),
      changed: done.changed ?? [],
      truncated: done.truncated ?? false,
      sets: done.sets ?? [],
    });
  };

const begin =
  (deps: FileDeps): Handler<typeof contracts.begin> =>
  async (context, { name }) => {
    const { principal } = context;
    const id = setIdAt(deps.now());
    const wanted = { to: contracts.begin, writes: reach };
    const world = await openWorld(deps, { principal, server: name, ...wanted });
    for (const from of reach)
      assertMayAccess(principal, world, { ...wanted, moves: { from, to: `${setsFolder}/${id}/${from}` } });
    const since = await sinceOf(deps, name);
    if (!since) throw new Fault("no_good_start");
    const done = await runOnWorld(deps, {
      ...context,
      ...{ server: name, to: contracts.begin, writes: reach },
      task: { mode: "set-aside", id, since },
      change: { action: "file.set_aside", path: id },
    });
    const { changed: files = [] } = done;
    if (files.length === 0) throw new Fault("nothing_changed");
    return answerLarge(deps, context, { id, files: shownTo(principal, world, files) });
  };

const putBack =
  (deps: FileDeps): Handler<typeof contracts.putBack> =>
  async (context, { name, id }) => {
    const { principal } = context;
    const world = await openWorld(deps, { principal, server: name, to: contracts.putBack, writes: reach });
    const done = await runOnWorld(deps, {
      ...context,
      ...{ server: name, to: contracts.putBack, writes: reach },
      task: { mode: "put-back", id },
      change: { action: "file.put_back", path: id },
    }).catch((error: unknown) => {
      const isNaming = isFault(error) && error.fault === "file_exists";
      if (isNaming && !mayAccess(principal, world, { to: contracts.read, reads: reach })) throw inTheWay();
      throw error;
    });
    return answerLarge(deps, context, { id, files: shownTo(principal, world, done.changed ?? []) });
  };

/** Of what was moved, what the caller may read the names of. */
function shownTo(principal: Principal, world: WorldServer, moved: readonly AsideFile[]): AsideFile[] {
  return moved.filter(({ path }) => mayAccess(principal, world, { to: contracts.read, reads: [path] }));
}

function inTheWay(): Fault {
  return new Fault("file_exists", {
    message: "A file of the set is there again, where you may not read; ask the owner of the server.",
  });
}

/** Undefined when no start of the server is known that went well. */
async function sinceOf(
  { mesh, now }: Pick<FileDeps, "mesh" | "now">,
  name: string,
): Promise<Since | undefined> {
  const { ready_at, rests } = await mesh.call(worlds.readLastStart, { name });
  if (ready_at === undefined) return undefined;
  return {
    at: Date.parse(ready_at),
    rests: rests.map(({ from, to }) => ({
      from: Date.parse(from),
      to: to === undefined ? now() : Date.parse(to),
    })),
  };
}

/** UTC, to the second. */
function setIdAt(now: number): string {
  return new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
}
