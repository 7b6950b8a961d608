import type { Phase } from "../packet/play.ts";
import type { Version } from "../version/catalog.ts";
import type { Interest } from "../wire/relay.ts";

/** What the bridge sees of each direction in each phase. */
type PacketFilters = {
  readonly [P in Phase]: {
    readonly fromServer: ReadonlyMap<number, Interest>;
    readonly fromClient: ReadonlyMap<number, Interest>;
  };
};

/** Packets by which a server reaches beyond the player's stay on it. */
const reachingPackets = ["transfer", "store_cookie", "cookie_request"] as const;
export type ReachingPacket = (typeof reachingPackets)[number];
const reaching = {
  transfer: "inspect",
  store_cookie: "inspect",
  cookie_request: "inspect",
} as const satisfies Record<ReachingPacket, Interest>;

const built = new Map<number, PacketFilters>();

/** The filters of a version, made once. */
export function packetFiltersOf(version: Version): PacketFilters {
  const known = built.get(version.protocol);
  if (known) return known;
  const filters: PacketFilters = {
    configuration: {
      fromServer: ids(version.configuration.toClient.find, {
        disconnect: "inspect",
        finish_configuration: "notify",
        custom_payload: "inspect",
        ...reaching,
      }),
      fromClient: ids(version.configuration.toServer.find, {
        finish_configuration: "notify",
        settings: "inspect",
        custom_payload: "inspect",
      }),
    },
    play: {
      fromServer: ids(version.play.toClient.find, {
        kick_disconnect: "inspect",
        login: "notify",
        start_configuration: "notify",
        bundle_delimiter: "notify",
        custom_payload: "inspect",
        declare_commands: "rewrite",
        ...reaching,
      }),
      fromClient: ids(version.play.toServer.find, {
        configuration_acknowledged: "notify",
        settings: "inspect",
        chat_command: "inspect",
        chat_command_signed: "inspect",
        tab_complete: "inspect",
        custom_payload: "inspect",
      }),
    },
  };
  built.set(version.protocol, filters);
  return filters;
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
