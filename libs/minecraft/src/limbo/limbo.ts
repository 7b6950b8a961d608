import type { Player } from "../login/player.ts";
import type { CommandWord } from "../packet/commands.ts";
import type { Dialog, PluginMessage, Title } from "../packet/play.ts";
import type { Text } from "../packet/text.ts";

/** One item in a chest menu: minecraft-data's item name, slot from 0. */
export type ChestItem = {
  readonly slot: number;
  readonly item: string;
  readonly name: Text;
  readonly lore?: readonly Text[];
  readonly count?: number;
};

/** What a limbo world is like. */
export type LimboOptions = {
  /** A 5x5 floor of invisible barriers to stand on (true); without it the player hovers. */
  readonly platform?: boolean;
  /** The commands that a client completes by Tab. */
  readonly commands?: readonly CommandWord[];
  /** Silence after which a client is closed (30 000). */
  readonly idleTimeoutMs?: number;
};

/** What a player in a limbo world does. None may throw. */
export type LimboEvents = {
  readonly onCommand?: (command: string) => void;
  readonly onChat?: (message: string) => void;
  readonly onClick?: (click: {
    readonly windowId: number;
    readonly slot: number;
    readonly button: number;
  }) => void;
  readonly onCloseWindow?: (windowId: number) => void;
  readonly onPluginMessage?: (message: PluginMessage) => void;
  readonly onDialogClick?: (id: string) => void;
  readonly onCookie?: (key: string, value: Buffer | undefined) => void;
  /** Once, whoever ended it. */
  readonly onLeave?: () => void;
};

/** A player in a limbo world. */
export type LimboSession = {
  readonly player: Player;
  readonly message: (text: Text, overlay?: boolean) => void;
  readonly title: (title: Title) => void;
  readonly pluginMessage: (message: PluginMessage) => void;
  /** Opens a chest of 1 to 6 rows and returns its window id. A click never moves an item: the chest is drawn again. */
  readonly openChest: (chest: {
    readonly title: Text;
    readonly rows: number;
    readonly items: readonly ChestItem[];
  }) => number;
  readonly closeWindow: () => void;
  /** Puts a written book into the hand and opens it. */
  readonly openBook: (pages: readonly Text[]) => void;
  /** False on a version without dialogs. */
  readonly showDialog: (dialog: Dialog) => boolean;
  readonly clearDialog: () => void;
  readonly storeCookie: (key: string, value: Buffer) => void;
  readonly requestCookie: (key: string) => void;
  readonly transfer: (target: { readonly host: string; readonly port: number }) => void;
  readonly kick: (reason: Text) => void;
};

/** Limbo worlds for all versions. Disposing closes the players in them. */
export type Limbo = AsyncDisposable & {
  readonly players: number;
  /** Takes a player in configuration into the world; resolves when they are in it. */
  readonly enter: (player: Player, events?: LimboEvents) => Promise<LimboSession>;
};
