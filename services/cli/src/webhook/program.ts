import { type Command, Option } from "commander";
import { type Common, command, group, list, runs, wholeNumber, yes } from "../program.ts";
import type { At, CreateOptions, DeliveriesOptions, SetOptions } from "./commands.ts";

const load = () => import("./commands.ts");

/** Whose webhooks. */
function ofServer(one: Command): Command {
  return one.option("--server <name>", "those of this server (default: those of the installation)");
}

function givenOptions(one: Command): Command {
  return one
    .option("--url <address>", "where to send, an https address; - reads it from standard input")
    .option("--event <events>", "what to send, comma separated; a wrong one lists all", list)
    .option("--language <language>", "en or zh, of messages to Discord and Slack");
}

export function addWebhookCommands(program: Command): void {
  const webhook = group(program, "webhook", "send events of a server to other services");
  ofServer(
    command(webhook, "list", {
      does: "webhooks with how their deliveries go",
      example: "webhook list --server survival",
    }),
  ).action(runs(async (options: Common & At) => (await load()).list(options)));
  givenOptions(
    ofServer(
      command(webhook, "create <label>", {
        does: "add a webhook; the secret of its signatures is shown this once",
        example:
          "webhook create chat --server survival --format discord --event server.ready,player.joined --url -",
      }),
    ),
  )
    .addOption(
      new Option("--format <format>", "what the receiver understands")
        .choices(["json", "discord", "slack"])
        .default("json"),
    )
    .action(
      runs(async (options: Common & CreateOptions, label) => (await load()).create(label ?? "", options)),
    );
  givenOptions(
    ofServer(
      command(webhook, "set <webhook>", {
        does: "change a webhook, by label or id; what is not given stays",
        example: "webhook set chat --server survival --off",
      }),
    ),
  )
    .option("--label <label>", "another label")
    .option("--on", "switch it on")
    .option("--off", "switch it off")
    .action(runs(async (options: Common & SetOptions, which) => (await load()).set(which ?? "", options)));
  addForOne(webhook);
}

function addForOne(webhook: Command): void {
  ofServer(
    command(webhook, "delete <webhook>", {
      does: "delete a webhook with its deliveries",
      example: "webhook delete chat --server survival --yes",
    }),
  )
    .addOption(yes())
    .action(
      runs(async (options: Common & At & { yes?: boolean }, which) =>
        (await load()).remove(which ?? "", options),
      ),
    );
  ofServer(
    command(webhook, "rotate <webhook>", {
      does: "make a new secret; the one before stays valid for a day",
      example: "webhook rotate chat --server survival",
    }),
  ).action(runs(async (options: Common & At, which) => (await load()).rotate(which ?? "", options)));
  ofServer(
    command(webhook, "test <webhook>", {
      does: "send a ping and wait for the answer; exit code 1 when it does not arrive",
      example: "webhook test chat --server survival",
    }),
  ).action(runs(async (options: Common & At, which) => (await load()).test(which ?? "", options)));
  ofServer(
    command(webhook, "deliveries <webhook>", {
      does: "what was sent, and what was given up, the newest first",
      example: "webhook deliveries chat --server survival --state dead",
    }),
  )
    .addOption(
      new Option("--state <state>", "only those in this state").choices([
        ...["waiting", "delivered", "dead", "dropped"],
      ]),
    )
    .option("--limit <count>", "how many, at most 100", wholeNumber, 50)
    .action(
      runs(async (options: Common & DeliveriesOptions, which) =>
        (await load()).listDeliveries(which ?? "", options),
      ),
    );
  ofServer(
    command(webhook, "redeliver <webhook> <delivery>", {
      does: "send one delivery again, with the same id",
      example: "webhook redeliver chat dlv_0a1b --server survival",
    }),
  ).action(
    runs(async (options: Common & At, which, delivery) =>
      (await load()).redeliver(which ?? "", delivery ?? "", options),
    ),
  );
}
