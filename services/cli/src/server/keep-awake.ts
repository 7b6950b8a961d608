import { keepAwakes } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { CommandError, fields, type Outcome } from "../output.ts";
import { untilOf } from "./until.ts";

type Options = { data: string; until?: string; off?: boolean };

/** Shows until when a server is kept awake; with an option, changes it. */
export async function keepAwake(name: string, { data, until, off }: Options): Promise<Outcome> {
  if (until !== undefined && off) throw new CommandError("Give either --until or --off.");
  const wanted = until === undefined ? undefined : untilOf(until, new Date());
  if (until !== undefined && !wanted)
    throw new CommandError(
      "--until takes a span such as 48h or 3d, a time such as 22:00 or 'sun 22:00', or a date with a time.",
    );
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
  return { json: kept, text: `${name} stays awake until ${new Date(kept.until).toString()}.` };
}
