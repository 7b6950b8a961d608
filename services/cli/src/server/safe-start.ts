// A start without what changed since the last good one (docs/reference/crashes.md#safe-start).

import { setAsides } from "@svc/proto";
import { connectExternal, type External } from "../account/external.ts";
import { hint } from "../hint.ts";
import { CommandError, type Outcome, table } from "../output.ts";
import { wakeServer } from "./commands.ts";

type Options = { data: string; dryRun?: boolean; wait?: boolean };

/** Sets aside what changed and wakes the server; a dry run only says what that would be, and what is set aside already. */
export async function safeStart(name: string, options: Options): Promise<Outcome> {
  const { data, dryRun = false } = options;
  const external = connectExternal(data);
  if (dryRun) return preview(external, name);
  const set = await external.call(setAsides.begin, { name });
  const moved = `Set aside, and nothing was deleted:\n${listed(set.files)}\nPut it back with: ${hint(data, `server put-back ${name} ${set.id}`)}`;
  try {
    const woken = await wakeServer(name, options);
    return { ...woken, json: { ...set, woken: woken.json }, text: `${moved}\n${woken.text}` };
  } catch (error) {
    throw new CommandError(
      `${moved}\nThe server was not started: ${(error as Error).message}; start it with: ${hint(data, `server wake ${name}`)}`,
    );
  }
}

async function preview(external: External, name: string): Promise<Outcome> {
  const answer = await external.call(setAsides.read, { name });
  const { since, changed, truncated, sets } = answer;
  const parts = [
    since === undefined
      ? "No start is known after which players could join, so nothing says what changed since."
      : changed.length === 0
        ? `No plugin, mod or configuration has changed since the last good start at ${since}.`
        : `Changed since the last good start at ${since}; a safe start would set this aside:\n${listed(changed)}`,
    ...(truncated ? ["There is more than one safe start can set aside; restore a backup instead."] : []),
    ...sets.map(({ id, files }) => `Set aside as ${id}:\n${listed(files)}`),
  ];
  return { json: answer, text: parts.join("\n\n") };
}

/** Puts a set back, the newest when none is named. */
export async function putBack(name: string, id: string | undefined, { data }: Options): Promise<Outcome> {
  const external = connectExternal(data);
  const wanted = id ?? (await external.call(setAsides.read, { name })).sets[0]?.id;
  if (wanted === undefined) throw new CommandError(`nothing of ${name} is set aside`);
  const set = await external.call(setAsides.putBack, { name, id: wanted });
  return { json: set, text: `Back in its place:\n${listed(set.files)}` };
}

function listed(files: readonly setAsides.AsideFile[]): string {
  return table(files.map(({ path, mod_time }) => [`  ${path}`, mod_time.slice(0, 19)]));
}
