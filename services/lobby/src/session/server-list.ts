// The servers a player has been told of, and how they are.

import type { ControlFrame } from "@svc/proto/control";
import { type Page, pageOf } from "../menu/page.ts";
import type { Server, ServerStatus } from "../menu/tile.ts";

type ListUpdate = Extract<ControlFrame, { type: "ListUpdate" }>;
type StatusUpdate = Extract<ControlFrame, { type: "StatusUpdate" }>;

export type ServerList = {
  readonly size: () => number;
  readonly page: (index: number) => Page<Server>;
  readonly setList: (list: ListUpdate) => void;
  /** False when this server is not on the list. */
  readonly setStatus: (update: StatusUpdate) => boolean;
  readonly drop: (server: string) => void;
};

export function createServerList(): ServerList {
  let verdicts: ReadonlyMap<string, string> = new Map();
  let statuses: ReadonlyMap<string, ServerStatus> = new Map();
  const keep = (names: ReadonlyMap<string, string>) => {
    verdicts = names;
    statuses = new Map([...statuses].filter(([name]) => names.has(name)));
  };
  return {
    size: () => verdicts.size,
    page: (index) =>
      pageOf(
        [...verdicts].map(([name, verdict]): Server => {
          const status = statuses.get(name);
          return status ? { name, verdict, status } : { name, verdict };
        }),
        index,
      ),
    setList: ({ servers, access }) => {
      const pairs = servers.map((name, index) => [name, access?.[index] ?? ""] as const);
      keep(new Map(pairs.filter(([name]) => name !== "")));
    },
    setStatus: (update) => {
      const { server, phase, ready, playersOnline, playersMax, claimable, startSeconds } = update;
      if (server === null || !verdicts.has(server)) return false;
      const status = {
        phase: phase ?? "",
        isReady: ready,
        playersOnline,
        playersMax,
        isClaimable: claimable,
        ...(startSeconds !== undefined && { startSeconds }),
      };
      statuses = new Map([...statuses, [server, status]]);
      return true;
    },
    drop: (server) => keep(new Map([...verdicts].filter(([name]) => name !== server))),
  };
}
