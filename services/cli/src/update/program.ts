import { Argument, type Command } from "commander";
import { type Common, command, runs } from "../program.ts";

/** Components whose steps can be printed. */
const components = ["platform", "proxy", "postgresql", "nats", "node", "kubernetes"];

export function addUpdateCommand(program: Command): void {
  const update = command(program, "update", {
    does: "check for updates and print how to apply them; nothing is applied",
    example: "update --postgresql",
  }).option("--record", "store the report for the panel");
  for (const name of components) update.option(`--${name}`, `print the steps for ${name}`);
  update.action(
    runs(async (options: Common & Record<string, unknown>) => {
      const chosen = components.filter((name) => options[name] === true);
      return (await import("./check.ts")).checkUpdates({
        data: options.data,
        record: options["record"] === true,
        chosen,
      });
    }),
  );
  command(update, "plan", {
    does: "print what to type for an update, step by step, and what cannot be undone; nothing is applied",
    example: "update plan platform",
  })
    .addArgument(
      new Argument("[components...]", "those that have an update, unless named").choices(components),
    )
    .action(
      runs(async (options: Common, ...names: string[]) =>
        (await import("./plan.ts")).printPlan(names, options),
      ),
    );
  command(update, "rollback", {
    does: "print the bundle, the images and the commands that roll back an update; exit code 1 when there is no bundle",
    example: "update rollback",
  }).action(runs(async (options: Common) => (await import("./plan.ts")).printRollback(options)));
}
