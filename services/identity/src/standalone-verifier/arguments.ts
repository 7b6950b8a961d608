import { parseArgs } from "node:util";
import { ConfigError } from "@svc/config";

export type Arguments = {
  file: string | undefined;
  overrides: string[];
  host: string;
  port: number;
  help: boolean;
};

export const helpText = `svc nano: the session verifier alone, without database, NATS and cluster

usage: svc nano [--config FILE] [--listen HOST:PORT] [--set section.key=value ...] [--help]

Answers GET /session/minecraft/hasJoined and /session/game/hasJoined for a proxy: Mojang is asked first, then each
[[auth_source]] of the file in its order. It bars nobody, for it has no list of barred players.

  --config FILE       configuration file (TOML); only [[auth_source]] and [identity] matter here
  --listen HOST:PORT  where it answers (default 127.0.0.1:8081; port 0 takes any free one)
  --set KEY=VALUE     overrides a setting (repeatable)

  [[auth_source]]
  tag = "example"     names the source for good: the UUIDs of its players derive from it
  prefix = "EX"       put before a name that is registered at Mojang
  url = "https://auth.example.org/session/minecraft/hasJoined"

answers: 200 with the profile, 204 when nobody vouches for the player, 503 when a source could not be asked.
GET /healthz answers 200 while the process is up.
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
    throw new ConfigError(`${(error as Error).message}; svc nano --help lists what it takes`);
  }
}
