// Setting aside what changed since the last good start (docs/reference/crashes.md#safe-start).

import type { Handler, Mesh } from "@svc/mesh";
import { setAsides as contracts, Fault, worlds } from "@svc/proto";
import type { Since } from "@svc/proto/world-task";
import type { FileDeps } from "./deps.ts";
import { answerLarge } from "./large-answer.ts";
import { openWorld } from "./open-world.ts";
import { runOnWorld } from "./run-on-world.ts";

/** What a set may have: a member whose paths are limited needs all of it. */
const reach = ["plugins", "mods", "config"] as const;

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
    await openWorld(deps, { principal, server: name, to: contracts.begin, writes: reach });
    const since = await sinceOf(deps, name);
    if (!since) throw new Fault("no_good_start");
    const id = setIdAt(deps.now());
    const done = await runOnWorld(deps, {
      ...context,
      ...{ server: name, to: contracts.begin, writes: reach },
      task: { mode: "set-aside", id, since },
      change: { action: "file.set_aside", path: id },
    });
    const { changed: files = [] } = done;
    if (files.length === 0) throw new Fault("nothing_changed");
    return answerLarge(deps, context, { id, files });
  };

const putBack =
  (deps: FileDeps): Handler<typeof contracts.putBack> =>
  async (context, { name, id }) => {
    const done = await runOnWorld(deps, {
      ...context,
      ...{ server: name, to: contracts.putBack, writes: reach },
      task: { mode: "put-back", id },
      change: { action: "file.put_back", path: id },
    });
    return answerLarge(deps, context, { id, files: done.changed ?? [] });
  };

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
