import type { Handler } from "@svc/mesh";
import { consoles } from "@svc/proto";
import { authorizeReading } from "./authorize.ts";
import type { ConsoleDeps } from "./deps.ts";
import { ticketOf } from "./log-streams.ts";

/** Repeated each minute for every viewer, which keeps the log followed. */
export const watch =
  (deps: ConsoleDeps): Handler<typeof consoles.watch> =>
  async (context, { name }) => {
    await authorizeReading(deps, context, { name, to: consoles.watch });
    await deps.followers.ensureFollowed(name);
    context.reply.stream = ticketOf(name, deps.settings.console_tail);
    return null;
  };
