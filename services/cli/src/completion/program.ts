import { type Command, InvalidArgumentError } from "commander";
import { command, runs } from "../program.ts";
import { type Shell, scriptOf, shells } from "./script.ts";

export function addCompletionCommand(program: Command): void {
  const made = command(program, "completion", {
    does: "print a shell script that defines svc with tab completion",
    example: "completion bash",
  });
  made.argument("<shell>", `one of ${shells.join(", ")}`, shellOf).action(
    runs(async (_options, shell) => {
      const script = scriptOf(program, shell as Shell);
      return { json: { shell, script }, text: script };
    }),
  );
}

function shellOf(text: string): Shell {
  const shell = shells.find((one) => one === text);
  if (shell) return shell;
  throw new InvalidArgumentError(`must be one of ${shells.join(", ")}.`);
}
