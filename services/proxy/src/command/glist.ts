import type { Online } from "../player/presence.ts";
import { type Session, tell } from "../session/session.ts";

/** How many play where, over all proxies. Names stay with the staff (`svc players`). */
export async function listEverybody(
  { online }: { readonly online: Online },
  session: Session,
): Promise<void> {
  const players = await online.read();
  if (!players) return tell(session, "serviceDown");
  const counts = new Map<string, number>();
  for (const { server = "-" } of players) counts.set(server, (counts.get(server) ?? 0) + 1);
  const rows = [...counts].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
  const servers = rows.map(([server, count]) => `${server} ${count}`).join(", ");
  tell(session, "everybody", { count: players.length, servers });
}
