// Which fields of a server were never set and have a value in new servers: pure (docs/reference/cli.md#converge).
//
// | field   | filled with                        | provided that                                             |
// |---------|------------------------------------|-----------------------------------------------------------|
// | `rcon`  | on, port 25575, the usual Secret   | `--user-rcon`, and it is stopped: its pod would be replaced |
// | `idle`  | auto-stop after 600 s without players | RCON is on, since players are counted over it           |

import type { MinecraftServerSpec } from "@svc/proto";

export type Server = {
  name: string;
  isSystem: boolean;
  spec: Partial<Pick<MinecraftServerSpec, "rcon" | "idle" | "desiredState">>;
  /** It has no pod and none is wanted. */
  isStopped: boolean;
};

export type Plan = {
  name: string;
  /** Fields of `spec` that are filled. */
  fill: Pick<Partial<MinecraftServerSpec>, "rcon" | "idle">;
  skipped: string[];
};

const idle = { autoStopEnabled: true, emptySecondsBeforeStop: 600 };

export function decideFill(server: Server, { userRcon }: { userRcon: boolean }): Plan {
  const { name, isSystem, spec, isStopped } = server;
  const fill: Plan["fill"] = {};
  const skipped: string[] = [];
  if (isSystem) return { name, fill, skipped };
  if (spec.rcon === undefined) {
    if (!userRcon) skipped.push("rcon: not set; --user-rcon switches it on");
    else if (!isStopped) skipped.push("rcon: stop the server first, its pod would be replaced");
    else fill.rcon = { enabled: true, port: 25_575, secretRef: { name: `${name}-rcon`, key: "password" } };
  }
  const rcon = fill.rcon ?? spec.rcon;
  if (spec.idle === undefined) {
    if (rcon?.enabled) fill.idle = idle;
    else skipped.push("idle: players are counted over RCON, which is off");
  }
  return { name, fill, skipped };
}
