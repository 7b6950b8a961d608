import { notePhaseAnswered, type Player, rememberBrand, rememberSettings } from "../login/player.ts";
import { packets } from "../packet/play.ts";
import type { Packet } from "../wire/connection.ts";

/** The client drops a connection that is silent for 20 s. */
const keepAliveMs = 10_000;
const maxCookieBytes = 5_120;

/** What a player who is held may answer. */
type KeepAliveEvents = {
  /** The id of a dialog's button. */
  readonly onDialogClick?: (id: string) => void;
  /** A cookie that was asked for; undefined when the client has none of that key. Not to be trusted unsigned. */
  readonly onCookie?: (key: string, value: Buffer | undefined) => void;
};

/** Keeps a player without a server alive: reads and forgets, in either phase. */
export function keepAlive(player: Player, events: KeepAliveEvents = {}): Disposable {
  const { connection, version } = player;
  connection.listen((packet) => remember(player, packet, events));
  const timer = setInterval(() => {
    connection.sendBody(packets.keepAlive(version, player.phase, Buffer.alloc(8, 1)));
  }, keepAliveMs).unref();
  const stop = () => clearInterval(timer);
  void connection.closed.then(stop);
  return {
    [Symbol.dispose]: () => {
      stop();
      connection.stop();
    },
  };
}

/** Takes what a client without a server says: its answers to changes of the phase, and what it says only once. */
export function remember(player: Player, { id, reader }: Packet, events: KeepAliveEvents = {}): void {
  const name = player.version[player.clientPhase].toServer.name(id);
  if (name === "configuration_acknowledged" || name === "finish_configuration") notePhaseAnswered(player);
  else if (name === "settings") rememberSettings(player, reader.rest());
  else if (name === "custom_payload") rememberBrand(player, reader.rest());
  else if (name === "custom_click_action") events.onDialogClick?.(reader.string(256));
  else if (name === "cookie_response") {
    const key = reader.string(256);
    events.onCookie?.(key, reader.bool() ? Buffer.from(reader.byteArray(maxCookieBytes)) : undefined);
  }
}
