import { type Command, Option } from "commander";
import { type Common, command, runs } from "../program.ts";

export function addOpenCommand(program: Command): void {
  command(program, "open", {
    does: "open the panel in a browser, or print its address without one; before the setup, the setup link",
    example: "open --host operator",
  })
    .addOption(
      new Option("--host <which>", "the players' panel or the operator console").choices([
        "panel",
        "operator",
      ]),
    )
    .action(
      runs(async (options: Common & { host?: "panel" | "operator" }) =>
        (await import("./browser.ts")).openPanel(options),
      ),
    );
}
