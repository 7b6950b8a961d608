import { type Command, Option } from "commander";
import { type Common, command, group, repeat, runs, streams, wholeNumber, yes } from "../program.ts";

const load = () => import("./commands.ts");
const manage = () => import("./manage.ts");
const consoles = () => import("./console.ts");
const safeStarts = () => import("./safe-start.ts");
const each = async (...about: Parameters<typeof import("./each.ts")["eachServer"]>) =>
  (await import("./each.ts")).eachServer(...about);
type Wait = Common & { wait?: boolean };

const policy = () =>
  new Option("--policy <who>", "who may wake the server by joining").choices([
    "ownerOnly",
    "public",
    "allowlist",
  ]);
const sizes = (made: Command) =>
  made
    .addOption(policy())
    .option("--idle <seconds>", "stop after this many seconds without players; 0 = never", wholeNumber)
    .option("--memory <quantity>", "memory limit, for example 2Gi")
    .option("--image <ref>", "server image");

export function addServerCommands(program: Command): void {
  const server = group(program, "server", "game servers");
  addLife(server);
  addChanges(server);
  addConsoles(server);
  addCrashes(server);
  addRestartPolicy(server);
  addKeepAwake(server);
  addTags(server);
  addFilters(server);
  addClones(server);
  addStatusPage(server);
}

function addLife(server: Command): void {
  sizes(
    command(server, "create <name>", {
      does: "create a stopped server",
      example: "server create survival --policy public --owner me",
    }),
  )
    .option("--subdomain <label>", "label under the root domain (default: its name)")
    .option("--storage <quantity>", "world volume, for example 8Gi")
    .option("--node <name>", "node to run on")
    .option("--owner <user>", "owner: me, or a user's name, verified address or id (default: none)")
    .option("--template <name>", "make it from this template; without staff rights the server is yours")
    .option("--claimable", "let the first linked player claim it; otherwise only operators assign it")
    .action(runs(async (options: never, name) => (await load()).createServer(name ?? "", options)));
  command(server, "wake <names...>", { does: "wake servers", example: "server wake survival --wait" })
    .option("--wait", "wait until players can join")
    .option("--insist", "wake it although a maintenance window lasts; for staff")
    .action(
      runs(async (options: Wait & { insist?: boolean }, ...names) => {
        const { wakeServer } = await load();
        return each(names, (name) => wakeServer(name, options));
      }),
    );
  command(server, "stop <names...>", { does: "stop servers", example: "server stop survival --wait" })
    .option("--wait", "wait until they have stopped")
    .action(
      runs(async (options: Wait, ...names) => {
        const { stopServer } = await load();
        return each(names, (name) => stopServer(name, options));
      }),
    );
  command(server, "restart <names...>", {
    does: "restart running servers; players who are on get 30 s notice",
    example: "server restart survival creative",
  }).action(
    runs(async (options, ...names) => {
      const { restartServer } = await load();
      return each(names, (name) => restartServer(name, options));
    }),
  );
  command(server, "backup <names...>", {
    does: "begin a backup of each stopped server",
    example: "server backup survival creative",
  }).action(
    runs(async (options, ...names) => {
      const { backUpServer } = await load();
      return each(names, (name) => backUpServer(name, options));
    }),
  );
  command(server, "status <name>", {
    does: "show one server",
    example: "server status survival --json",
  }).action(runs(async (options, name) => (await load()).serverStatus(name ?? "", options)));
  command(server, "list", {
    does: "list your servers, or all servers for operators",
    example: "server list",
  })
    .option("--tag <tag>", "only servers with this tag")
    .option("--filter <name>", "only what a saved filter finds, in its order")
    .action(
      runs(async (options: Common & { tag?: string; filter?: string }) =>
        (await load()).listServers(options),
      ),
    );
}

function addActivity(server: Command): void {
  command(server, "activity <name>", {
    does: "show who did what to a server, newest first",
    example: "server activity survival --limit 20",
  })
    .option("--limit <n>", "how many entries (default: 50)", wholeNumber)
    .option("--all", "all entries that are kept")
    .action(
      runs(async (options: Common & { limit?: number; all?: boolean }, name) =>
        (await import("./activity.ts")).serverActivity(name ?? "", options),
      ),
    );
}

type FilterOptions = Parameters<typeof import("./filter.ts")["serverFilter"]>[1];

function addFilters(server: Command): void {
  command(server, "filter [name]", {
    does: "list saved filters of the list of servers; with a name and options, save or delete one",
    example: "server filter Event --tag event --show awake",
  })
    .option("--search <words>", "words in the name, the address, the owner or a tag")
    .addOption(
      new Option("--show <state>", "only servers of this state").choices([
        ...["awake", "asleep", "failed", "attention", "unowned"],
      ]),
    )
    .option("--tag <tag>", "only servers with this tag")
    .option("--node <name>", "only servers of this node; for operators")
    .addOption(new Option("--sort <by>", "order").choices(["name", "phase", "players", "owner", "node"]))
    .option("--delete", "delete it")
    .action(
      runs(async (options: Common & FilterOptions, name) =>
        (await import("./filter.ts")).serverFilter(name, options),
      ),
    );
}

function addChanges(server: Command): void {
  sizes(
    command(server, "set <name>", {
      does: "change settings; a running server restarts when its image, memory or CPU changes",
      example: "server set survival --memory 4Gi --idle 600",
    }),
  )
    .option("--display-name <text>", "name shown in lists; an empty text clears it")
    .option("--confirm-image", "confirm an image change; a new version may convert the world")
    .action(runs(async (options: never, name) => (await manage()).setServer(name ?? "", options)));
  command(server, "claim <name>", {
    does: "become the owner of a server that has none",
    example: "server claim survival",
  }).action(runs(async (options, name) => (await manage()).claimServer(name ?? "", options)));
  command(server, "delete <name>", {
    does: "delete a server and its world; its backups stay until they expire",
    example: "server delete survival --yes",
  })
    .option("--keep-server", "delete the world and release the owner, but keep the server")
    .option("--cancel", "cancel a deletion that the daily batch has not started")
    .addOption(yes())
    .action(runs(async (options: never, name) => (await manage()).deleteServer(name ?? "", options)));
  command(server, "allowlist <name> [player]", {
    does: "list players who may wake the server; with a player and an option, change it",
    example: "server allowlist survival b4f7e65c-ed9c-3510-88fa-a3f669cd7244 --revoke",
  })
    .option("--revoke", "revoke the right to wake")
    .option("--grant", "grant it again")
    .action(
      runs(async (options: never, name, player) => (await manage()).allowlist(name ?? "", player, options)),
    );
  command(server, "export <name>", {
    does: "print the file of a server as it is, for svc apply",
    example: "server export survival",
  }).action(
    runs(async (options, name) => (await import("../apply/commands.ts")).exportServer(name ?? "", options)),
  );
  command(server, "history <name>", {
    does: "show the history of a server: phases, players, tasks, owners",
    example: "server history survival --since 7d",
  })
    .option("--since <time>", "from: a span such as 1h or 2d, a date or a time (default: all)")
    .action(
      runs(async (options: Common & { since?: string }, name) =>
        (await import("./history.ts")).serverHistory(name ?? "", options),
      ),
    );
  addActivity(server);
}

type PolicyOptions = Common & {
  afterCrash?: "restart" | "stop";
  whenHung?: "restart" | "restart_if_silent" | "leave";
  silentMinutes?: number;
};

function addRestartPolicy(server: Command): void {
  command(server, "restart-policy <name>", {
    does: "show what svc does by itself when a server crashes or hangs; with an option, set it",
    example: "server restart-policy survival --when-hung restart_if_silent --silent-minutes 15",
  })
    .addOption(new Option("--after-crash <what>", "after a crash").choices(["restart", "stop"]))
    .addOption(
      new Option("--when-hung <what>", "when it runs and does not answer").choices([
        "restart",
        "restart_if_silent",
        "leave",
      ]),
    )
    .option("--silent-minutes <minutes>", "5 to 120 minutes of silence for restart_if_silent", wholeNumber)
    .action(
      runs(async (options: PolicyOptions, name) =>
        (await import("./restart-policy.ts")).restartPolicy(name ?? "", options),
      ),
    );
}

type TagOptions = Common & { add?: string[]; remove?: string[] };

function addTags(server: Command): void {
  command(server, "tag <names...>", {
    does: "show the tags of servers; with options, change them",
    example: "server tag survival creative --add event:red --remove old",
  })
    .option(
      "--add <tag>",
      "add a tag, or tag:colour, where the colour is grey, blue, green, amber, red or violet; may be repeated",
      repeat,
    )
    .option("--remove <tag>", "remove a tag; may be repeated", repeat)
    .action(
      runs(async (options: TagOptions, ...names) => {
        const { tagServer } = await import("./tag.ts");
        return each(names, (name) => tagServer(name, { ...options, inLine: names.length > 1 }));
      }),
    );
}

type CloneOptions = Parameters<typeof import("./clone.ts")["cloneServer"]>[2];
type OriginOptions = Common & { retry?: boolean; backup?: string };
const clones = () => import("./clone.ts");

function addClones(server: Command): void {
  command(server, "clone <source> <name>", {
    does: "make a server with the settings of another one, and its world from the newest backup",
    example: "server clone survival survival-test --wait",
  })
    .option("--backup <id>", "take the world from this backup of the source")
    .option("--new-backup", "back the source up first; it must be stopped")
    .option("--without-world", "start with a new world")
    .option("--allowlist", "let the players of the source wake it too")
    .option("--subdomain <label>", "label under the root domain (default: its name)")
    .option("--display-name <text>", "name that people see")
    .option("--node <name>", "node to run on")
    .option("--owner <user>", "owner: me, or a user's name, verified address or id (default: none)")
    .option("--claimable", "let the first linked player claim it; otherwise only operators assign it")
    .option("--wait", "wait until its world is there")
    .action(
      runs(async (options: CloneOptions, source, name) =>
        (await clones()).cloneServer(source ?? "", name ?? "", options),
      ),
    );
  command(server, "origin <name>", {
    does: "show where the world of a clone comes from, and how far it has got",
    example: "server origin survival-test --retry",
  })
    .option("--retry", "try again after it failed")
    .option("--backup <id>", "with --retry: another backup of the source")
    .action(runs(async (options: OriginOptions, name) => (await clones()).showOrigin(name ?? "", options)));
}

type StatusPageOptions = Common & { on?: boolean; off?: boolean };

function addStatusPage(server: Command): void {
  command(server, "status-page [name]", {
    does: "show whether everybody may read the status of a server, or of no name the list of all; with an option, change it",
    example: "server status-page survival --on",
  })
    .option("--on", "show it to everybody, without signing in")
    .option("--off", "show it no longer")
    .action(
      runs(async (options: StatusPageOptions, name) =>
        (await import("./status-page.ts")).statusPage(name ?? "", options),
      ),
    );
}

type KeepAwakeOptions = Common & { until?: string; off?: boolean };

function addKeepAwake(server: Command): void {
  command(server, "keep-awake <name>", {
    does: "show until when an empty server is kept from stopping; with an option, change it",
    example: "server keep-awake survival --until 'sun 22:00'",
  })
    .option(
      "--until <time>",
      "a span such as 48h, a time such as 22:00 or 'sun 22:00', or a date with a time",
    )
    .option("--off", "let it stop again when it is empty")
    .action(
      runs(async (options: KeepAwakeOptions, name) =>
        (await import("./keep-awake.ts")).keepAwake(name ?? "", options),
      ),
    );
}

type Crashes = [name?: string, id?: string];

function addCrashes(server: Command): void {
  command(server, "crashes <name> [id]", {
    does: "list the crashes of a server with their causes; with an id, show one with the last log lines",
    example: "server crashes survival",
  }).action(
    runs(async (options, ...[name = "", id]: Crashes) => {
      const { listCrashes, readCrash } = await import("./crashes.ts");
      return id === undefined ? listCrashes(name, options) : readCrash(name, id, options);
    }),
  );
  command(server, "safe-start <name>", {
    does: "start a stopped server without the plugins, mods and configuration that changed since its last good start",
    example: "server safe-start survival --dry-run",
  })
    .option("--dry-run", "only show what would be set aside and what already is")
    .option("--wait", "wait until players can join")
    .action(
      runs(async (options: Wait & { dryRun?: boolean }, name) =>
        (await safeStarts()).safeStart(name ?? "", options),
      ),
    );
  command(server, "put-back <name> [set]", {
    does: "put back what a safe start set aside, the newest set unless one is named",
    example: "server put-back survival",
  }).action(runs(async (options, name, set) => (await safeStarts()).putBack(name ?? "", set, options)));
}

function addConsoles(server: Command): void {
  command(server, "command <name> <words...>", {
    does: "run one command on a running server and print the reply",
    example: "server command survival time set day",
  }).action(
    runs(async (options, name, ...words) => (await consoles()).runCommand(name ?? "", words, options)),
  );
  command(server, "console <name>", {
    does: "open the live console: log lines and commands (Ctrl-D to leave)",
    example: "server console survival",
  }).action(streams(async (options, name) => (await consoles()).openConsole(name ?? "", options)));
  command(server, "logs <name>", {
    does: "print the last log lines of a running server",
    example: "server logs survival --follow",
  })
    .option("--follow", "keep following")
    .action(
      streams(async (options: Common & { follow?: boolean }, name) =>
        (await consoles()).printLogs(name ?? "", options),
      ),
    );
}
