import type { CommandContext, GameServer } from "flying-squid";
import type { AccessLists } from "../access/lists.ts";
import type { Log } from "../console/log.ts";

export type CommandTools = {
  readonly server: GameServer;
  readonly lists: AccessLists;
  readonly log: Log;
  readonly maxPlayers: number;
  readonly saveAll: () => Promise<void>;
  readonly requestStop: () => void;
  readonly hasFaults: boolean;
};

export type OwnCommand = {
  readonly usage: string;
  readonly info: string;
  /** Players need no operator rights for it. */
  readonly isOpen?: true;
  readonly run: (
    argument: string,
    context: CommandContext,
  ) => string | undefined | Promise<string | undefined>;
};
