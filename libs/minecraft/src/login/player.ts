import { MinecraftFault } from "../fault.ts";
import { type Phase, packets, readLocale } from "../packet/play.ts";
import type { Text } from "../packet/text.ts";
import type { Version } from "../version/catalog.ts";
import { Reader } from "../wire/bytes.ts";
import type { Connection } from "../wire/connection.ts";
import type { Profile } from "./profile.ts";

/** A player who is logged in. Handed out in the configuration phase, with nothing being read yet. */
export type Player = {
  readonly connection: Connection;
  readonly version: Version;
  readonly profile: Profile;
  /** Where the player comes from: behind PROXY headers and forwarding, IPv4 in plain notation. */
  readonly address: string;
  /** The host name the player typed: lower case, no trailing dot, nothing behind `\0`. Not to be trusted. */
  readonly host: string;
  /** The client came by a Transfer packet. */
  readonly transferred: boolean;
  /** What the client's next packet from us has to be: the phase of our direction. */
  phase: Phase;
  /** The phase of the client's own next packet: it follows ours once the client has answered a change. */
  clientPhase: Phase;
  /** The client has been told of a world and not out of it again. Before that it cannot show a line of chat. */
  inWorld: boolean;
  /** Changes of the phase that the client was told and has not answered yet. */
  unanswered: number;
  /** What the client said of itself, kept because it says so only once. */
  readonly client: { settings?: Buffer; brand?: Buffer; locale: string };
};

/** Sends the player away with a text, in whichever phase they are. */
export function kick(player: Player, reason: Text): void {
  player.connection.sendBody(packets.disconnect(player.version, player.phase, reason));
  player.connection.end();
}

/**
 * The client has answered a change of the phase. One who answers what nobody asked would have us read its packets by the
 * ids of the wrong phase.
 */
export function notePhaseAnswered(player: Player): void {
  if (player.unanswered === 0)
    throw new MinecraftFault("state", "the client answers a change of the phase that nobody asked for");
  player.unanswered -= 1;
  player.clientPhase = player.clientPhase === "play" ? "configuration" : "play";
}

/** A client's settings are some 30 bytes; more would only be there to be kept. */
const maxSettingsBytes = 256;

/** Remembers the fields of a `settings` packet. */
export function rememberSettings(player: Player, fields: Buffer): void {
  if (fields.length > maxSettingsBytes)
    throw new MinecraftFault("frame", `settings of ${fields.length} bytes are refused`);
  player.client.settings = Buffer.from(fields);
  player.client.locale = readLocale(fields).toLowerCase();
}

/** Remembers the fields of a plugin message when it is the client's brand. */
export function rememberBrand(player: Player, fields: Buffer): void {
  if (fields.length <= 512 && new Reader(fields).string(256) === "minecraft:brand")
    player.client.brand = Buffer.from(fields);
}
