import { keepAwakes } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { fields, type Outcome, UsageError } from "../output.ts";
import { laterOf } from "../time.ts";

type Options = { data: string; until?: string; off?: boolean };

/** Shows until when a server is kept awake; with an option, changes it. */
export async function keepAwake(name: string, { data, until, off }: Options): Promise<Outcome> {
  if (until !== undefined && off) throw new UsageError("Give either --until or --off.");
  const wanted = until === undefined ? undefined : laterOf(until, "--until");
  const external = connectExternal(data);
  if (off) {
    await external.call(keepAwakes.end, { name });
    return { json: { name }, text: `${name} stops by itself again when it is empty.` };
  }
  if (!wanted) {
    const state = await external.call(keepAwakes.read, { name });
    return { json: state, text: fields({ until: "-", ...state }) };
  }
  const kept = await external.call(keepAwakes.write, { name, until: wanted.toISOString() });
  return { json: kept, text: keptText(name, new Date(kept.until)) };
}

/** The time as it is read here, by which `--until` went, and in UTC. Also true of a server that sleeps. */
export function keptText(name: string, until: Date): string {
  const local = until.toString().slice(0, 21);
  return `${name} is not stopped for being empty until ${local} (${until.toISOString().slice(0, 19)}Z).`;
}
