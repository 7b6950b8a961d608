export { type Bridge, type BridgeHooks, type BridgeLimits, createBridge } from "./bridge/bridge.ts";
export { type KeepAliveEvents, keepAlive } from "./bridge/keep-alive.ts";
export type { ReachingPacket } from "./bridge/packet-filter.ts";
export { MinecraftFault, type MinecraftFaultCode } from "./fault.ts";
export type { ChestItem, Limbo, LimboEvents, LimboOptions, LimboSession } from "./limbo/limbo.ts";
export { createLimbo } from "./limbo/session.ts";
export {
  type AcceptOptions,
  accept,
  defaultLoginTexts,
  type LoginTexts,
  type Ping,
  type Trust,
} from "./login/accept.ts";
export { type Backend, type Dialler, dial } from "./login/dial.ts";
export { decodeForwarding, encodeForwarding, type Forwarded, forwardingChannel } from "./login/forwarding.ts";
export { type Listener, type ListenOptions, listen } from "./login/listen.ts";
export { kick, type Player } from "./login/player.ts";
export { isPlayerName, offlineUuid, type Profile, type ProfileProperty } from "./login/profile.ts";
export { readStatus, type ServerAnswer } from "./login/read-status.ts";
export { type ForwardingSecrets, secretFile } from "./login/secrets.ts";
export { createLoginKeys, hasJoined, type LoginKeys, type SessionServer } from "./login/session-server.ts";
export { type ServerStatus, statusJson } from "./login/status.ts";
export type { CommandWord } from "./packet/commands.ts";
export { type Dialog, type Phase, type PluginMessage, packets, type Title } from "./packet/play.ts";
export { type Click, plainText, readTextNbt, type Text, type TextPart } from "./packet/text.ts";
export { type Endpoint, plainAddress } from "./proxy-protocol.ts";
export {
  findVersion,
  supportedProtocols,
  supportedRange,
  type Version,
  versionLabel,
} from "./version/catalog.ts";
export { Connection, type Packet } from "./wire/connection.ts";
