import { cleanLine } from "@svc/kube";
import type { Handler } from "@svc/mesh";
import { consoles, type Principal } from "@svc/proto";
import { authorizeCommands } from "./authorize.ts";
import { readCommand } from "./command-text.ts";
import { audit, type ConsoleDeps } from "./deps.ts";
import { noteStream } from "./log-streams.ts";

const encoder = new TextEncoder();

export const command =
  (deps: ConsoleDeps): Handler<typeof consoles.command> =>
  async (context, input) => {
    const { name } = input;
    const read = readCommand(input.command);
    // Without a text that can be sent a member with patterns is refused for that reason.
    const command = "problem" in read ? {} : { command: read.command };
    const server = await authorizeCommands(deps, context, { name, to: consoles.command, ...command });
    if ("problem" in read) throw context.fault("bad_request", { message: read.problem });
    await audit(deps, context, {
      action: "console.command",
      server_name: name,
      payload: { command: read.command },
    });
    const echoed = echo(deps, name, `${nameOf(context.principal)} > ${read.command}`);
    const output = await deps.rcon.run(server, read.command);
    await echoed.catch((err: unknown) =>
      context.log.warn({ err }, "publishing the echo of a command failed"),
    );
    return { name, output };
  };

/** Viewers see who ran what: the game itself does not log commands over RCON. */
function echo(deps: ConsoleDeps, name: string, text: string): Promise<void> {
  const line = cleanLine(encoder.encode(text), deps.settings.console_line_bytes);
  const echoed = deps.mesh.publishLiveLine(noteStream(name), encoder.encode(line));
  echoed.catch(() => {});
  return echoed;
}

function nameOf(principal: Principal): string {
  return principal.kind === "account" ? principal.username : principal.kind;
}
