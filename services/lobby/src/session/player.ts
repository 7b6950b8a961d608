import type { Text } from "@svc/minecraft";
import type { ControlFrame } from "@svc/proto/control";
import type { MenuItem } from "../menu/render.ts";

/** A player as far as the lobby needs one. */
export type LobbyPlayer = {
  readonly locale: () => string;
  readonly say: (text: Text) => void;
  readonly title: (title: Text, subtitle: Text) => void;
  readonly send: (frame: ControlFrame) => void;
  /** Opens the chest, or fills the open one anew. */
  readonly showMenu: (title: string, items: readonly MenuItem[]) => void;
  readonly closeMenu: () => void;
  /** Aborted once the connection is closed. */
  readonly left: AbortSignal;
};
