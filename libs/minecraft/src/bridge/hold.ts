import { type Player, rememberBrand, rememberSettings } from "../login/player.ts";
import { packets } from "../packet/play.ts";
import { Reader } from "../wire/bytes.ts";
import type { Packet } from "../wire/connection.ts";

/** The client drops a connection that is silent for 20 s. */
const keepAliveMs = 10_000;

/** Keeps a player without a server alive: reads and forgets, in either phase. `onDialogClick` gets a dialog button's id. */
export function hold(player: Player, onDialogClick?: (id: string) => void): Disposable {
  const { connection, version } = player;
  connection.listen((packet) => remember(player, packet, onDialogClick));
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

function remember(
  player: Player,
  { id, reader }: Packet,
  onDialogClick: ((id: string) => void) | undefined,
): void {
  const name = player.version[player.phase].toServer.name(id);
  if (name === "settings") rememberSettings(player, reader.rest());
  else if (name === "custom_payload") rememberBrand(player, reader.rest());
  else if (name === "custom_click_action") onDialogClick?.(new Reader(reader.rest()).string(256));
}
