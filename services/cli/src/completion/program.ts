import { type Command, InvalidArgumentError } from "commander";
import { command, runs } from "../program.ts";
import { type Shell, scriptOf, shells } from "./script.ts";

export function addCompletionCommand(program: Command): void {
  const made = command(program, "completion", {
    does: "print a script that makes the command svc and completes it by Tab",
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
  throw new InvalidArgumentError(`it is one of ${shells.join(", ")}.`);
}
