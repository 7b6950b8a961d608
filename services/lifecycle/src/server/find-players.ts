import type { Handler } from "@svc/mesh";
import type { players } from "@svc/proto";
import type { ServerDeps } from "./deps.ts";

export const findPlayers =
  ({ store }: Pick<ServerDeps, "store">): Handler<typeof players.findByName> =>
  async (_context, { text }) => ({ mc_uuids: await store.playersNamed(text) });
