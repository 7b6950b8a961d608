import { parseArgs } from "node:util";
import { ConfigError } from "@svc/config";

type Arguments = {
  file: string | undefined;
  overrides: string[];
  host: string;
  port: number;
  help: boolean;
};

export const helpText = `svc nano: the session verifier alone, without database, NATS and cluster

usage: svc nano [--config FILE] [--listen HOST:PORT] [--set section.key=value ...] [--help]

Serves GET /session/minecraft/hasJoined and /session/game/hasJoined for a proxy: Mojang is queried first, then each
[[auth_source]] of the file in order. It bars nobody, since it has no list of barred players.

  --config FILE       configuration file (TOML); only [[auth_source]] and [identity] matter here
  --listen HOST:PORT  address to serve on (default 127.0.0.1:8081; port 0 picks a free one)
  --set KEY=VALUE     overrides a setting (repeatable)

  [[auth_source]]
  tag = "example"     names the source permanently: the UUIDs of its players derive from it
  prefix = "EX"       put before a name that is also registered at Mojang
  url = "https://auth.example.org/session/minecraft/hasJoined"

answers: 200 with the profile, 204 when no source knows the player, 503 when a source was unavailable.
GET /healthz returns 200 while the process is up.
`;

/** Reads the command line. Throws `ConfigError`. */
export function parseArguments(argv: readonly string[]): Arguments {
  const { values } = parse(argv);
  const [, host = "", port = ""] = /^(.+):(\d{1,5})$/.exec(values.listen) ?? [];
  if (host === "" || Number(port) > 65_535)
    throw new ConfigError(`--listen ${values.listen}: write it as HOST:PORT, such as 0.0.0.0:8081`);
  return {
    file: values.config,
    overrides: values.set,
    host: host.replace(/^\[(.*)\]$/, "$1"),
    port: Number(port),
    help: values.help,
  };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        config: { type: "string" },
        set: { type: "string", multiple: true, default: [] },
        listen: { type: "string", default: "127.0.0.1:8081" },
        help: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    throw new ConfigError(`${(error as Error).message}; svc nano --help lists the options`);
  }
}
