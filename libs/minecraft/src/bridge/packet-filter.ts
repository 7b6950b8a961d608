import type { Phase } from "../packet/play.ts";
import type { Version } from "../version/catalog.ts";
import type { Interest } from "../wire/relay.ts";

/** What the bridge wants to see of one direction in one phase. */
export type Taps = {
  readonly [P in Phase]: {
    readonly fromServer: ReadonlyMap<number, Interest>;
    readonly fromClient: ReadonlyMap<number, Interest>;
  };
};

/** Packets by which a server reaches beyond the player's stay on it. */
export const reachingPackets = ["transfer", "store_cookie", "cookie_request"] as const;
export type ReachingPacket = (typeof reachingPackets)[number];
const reaching = { transfer: "look", store_cookie: "look", cookie_request: "look" } as const satisfies Record<
  ReachingPacket,
  Interest
>;

const built = new Map<number, Taps>();

/** The ids to watch, made once per version. */
export function tapsOf(version: Version): Taps {
  const known = built.get(version.protocol);
  if (known) return known;
  const taps: Taps = {
    configuration: {
      fromServer: ids(version.configuration.toClient.find, {
        disconnect: "look",
        finish_configuration: "count",
        custom_payload: "look",
        ...reaching,
      }),
      fromClient: ids(version.configuration.toServer.find, {
        finish_configuration: "count",
        settings: "look",
        custom_payload: "look",
      }),
    },
    play: {
      fromServer: ids(version.play.toClient.find, {
        kick_disconnect: "look",
        login: "count",
        start_configuration: "count",
        bundle_delimiter: "count",
        custom_payload: "look",
        ...reaching,
      }),
      fromClient: ids(version.play.toServer.find, {
        configuration_acknowledged: "count",
        settings: "look",
        chat_command: "look",
        chat_command_signed: "look",
        custom_payload: "look",
      }),
    },
  };
  built.set(version.protocol, taps);
  return taps;
}

function ids(
  find: (name: string) => number | undefined,
  names: Readonly<Record<string, Interest>>,
): Map<number, Interest> {
  const found = new Map<number, Interest>();
  for (const [name, interest] of Object.entries(names)) {
    const id = find(name);
    if (id !== undefined) found.set(id, interest);
  }
  return found;
}
