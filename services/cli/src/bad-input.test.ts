import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { testProgram } from "@svc/config/test-program";
import { runCommand } from "./testing/run-command.ts";

const folder = mkdtempSync(join(tmpdir(), "svc cli-"));
after(() => rmSync(folder, { recursive: true }));

const withoutStack = [
  "status",
  "account whoami",
  "account identities",
  "account unlink-identity works",
  "account link ABCD2345",
  "token list",
  "token revoke word",
  "server create survival",
  "server create survival --template event",
  "template list",
  "template save event --from survival --offer",
  "template delete event --yes",
  "server wake survival",
  "server stop survival --wait",
  "server restart survival",
  "server list --filter Event",
  "server filter",
  "server filter Event --tag event",
  "server backup survival",
  "server list",
  "server status survival",
  "server claim survival",
  "server delete survival",
  "server allowlist survival",
  "server history survival",
  "server activity survival",
  "server crashes survival",
  "server restart-policy survival --after-crash stop",
  "server keep-awake survival --until 48h",
  "server tag survival --add event:red",
  "server clone survival copy --without-world",
  "server origin copy",
  "group list",
  "group create Evening --stage survival",
  "group start Evening --wait",
  "server status-page survival --on",
  "server crashes survival 6f0c4e0a-53f0-4b0e-9a55-0d1d36e4c1de",
  "server command survival list",
  "server logs survival",
  "players",
  "files ls survival",
  "files get survival server.properties",
  "files search survival motd",
  "files archive survival a.zip config",
  "files fetch survival https://a.example/b.jar plugins/",
  "files history survival motd.txt",
  "files undo survival motd.txt --yes",
  "files rm survival server.properties",
  "plugin list survival",
  "plugin search survival towers",
  "plugin install survival towers",
  "schedule list survival",
  "schedule create survival --action restart --at 04:00",
  "schedule run survival 1",
  "backup-now",
  "backup list",
  "backup restore bk-1",
  "server-migrate status survival",
  "reaper",
  "registry list",
  "acceptance list",
  "acceptance add CVE-2026-1 --package x --reason y",
  "acceptance remove word",
  "user list",
  "user disable somebody",
  "player bar Steve",
  "setup",
  "break-glass set-password somebody",
  "audit-export --out audit.jsonl",
  "events",
  "migrate up",
  "db list",
  "db backup",
  "offsite status",
  "update plan",
  "converge",
  "alerts list",
];

describe("without a stack", () => {
  for (const words of withoutStack)
    test(`svc ${words} says how to start one, and prints no JSON`, async () => {
      const ran = await runCommand([...words.split(" "), "--json", "--data", folder]);
      assert.deepEqual([ran.code, ran.out], [1, ""], ran.error);
      assert.match(ran.error, /^svc: no stack (is running|was started) on [^\n]*\n$/);
      assert.ok(ran.error.includes(`npm run up -- --data '${folder}'`), ran.error);
      assert.doesNotMatch(ran.error, /\bE[A-Z]{4,}\b|\.ts:\d/);
      assert.deepEqual(readdirSync(folder), []);
    });
});

describe("wrong usage", () => {
  const notYaml = join(folder, "not.yaml");
  before(() => writeFileSync(notYaml, "a: b: c\n"));
  const chain = ["schedule", "create", "survival", "--action", "stop", "--at", "04:00"];
  const cases: [args: string[], code: 1 | 2, says: RegExp][] = [
    [["server", "create"], 2, /missing required argument 'name'/],
    [["server", "create", "survival", "--idle", "soon"], 2, /must be a whole number/],
    [["server", "create", "survival", "--policy", "everybody"], 2, /Allowed choices are/],
    [["server", "wake", "survival", "--weit"], 2, /unknown option '--weit'[\s\S]*Did you mean --wait/],
    [["server", "set", "survival"], 2, /no settings given; list them with npm run svc -- server set --help/],
    [["sever"], 2, /unknown command 'sever'[\s\S]*Did you mean server/],
    [["schedule", "create", "survival"], 2, /missing --action command\|restart\|stop\|start\|backup/],
    [[...chain, "--then", "dance"], 2, /--then dance: write \[wait=SECONDS\] \[only-if=CONDITION\] ACTION/],
    [[...chain, "--then", "stop", "--then", "command"], 2, /--then command: action command has a command/],
    [[...chain, "--only-if", "rain"], 2, /only-if rain: write empty, players_online/],
    [["schedule", "create", "survival", "--action", "dance"], 2, /Allowed choices are command, restart/],
    [["events", "--since", "yesterday"], 2, /--since yesterday: write a span such as 90s/],
    [["audit-export", "--out", "x", "--until", "2026-13-01"], 2, /--until 2026-13-01: write a span/],
    [["acceptance", "add", "CVE-1", "--package", "x"], 2, /required option '--reason <text>' not specified/],
    [["db", "restore"], 2, /name a bundle, or a time with --to/],
    [["db", "restore", "a", "--to", "1h"], 2, /name a bundle, or a time with --to/],
    [["db", "at", "notatime"], 2, /time notatime: write a span such as 90s/],
    [["db", "audit-export", "--out", "x", "--since", "nonsense"], 2, /--since nonsense: write a span/],
    [["server", "keep-awake", "survival", "--until", "soon"], 2, /--until soon: write a span such as 48h/],
    [["db", "verify", "one.tar", "two.tar"], 2, /too many arguments for 'verify'/],
    [["offsite", "verify", "--sample", "0"], 2, /must be at least 1/],
    [["domain", "check", "https://play.example.net"], 2, /must be a domain such as play\.example\.net/],
    [["domain", "check", "--resolver", "dns"], 2, /must be an IP address such as 9\.9\.9\.9/],
    [["domain", "check", "--game-port", "70000"], 2, /must be 1 to 65535/],
    [["manifests", "render", "--values", join(folder, "gone.yaml")], 1, /gone\.yaml not found/],
    [["manifests", "render", "--values", notYaml], 1, /not\.yaml is not YAML: .+ at line 1, column 4\n$/],
    [["completion", "tcsh"], 2, /must be one of bash, zsh, fish/],
    [["rotate-token", "nobody"], 2, /must be one of velocity, limbo, build, ops/],
    [["break-glass", "local-auth", "maybe"], 2, /must be on or off/],
    [["files", "put", "survival", join(folder, "gone.jar"), "mods/"], 1, /gone\.jar not found/],
    [["files", "search", "survival", "a", "--names", "--content"], 2, /choose one of --names and --content/],
    [["manifests", "setup-link", "--file", folder], 1, /what was named is a folder, not a file/],
  ];
  for (const [args, code, says] of cases)
    test(`svc ${args.join(" ").replace(folder, "FOLDER")} ends with ${code} and says what to write`, async () => {
      const ran = await runCommand([...args, "--data", folder]);
      assert.match(ran.error, says);
      assert.deepEqual([ran.code, ran.out], [code, ""]);
      assert.doesNotMatch(ran.error, /\bE[A-Z]{4,}\b/);
    });
});

test("a reader that leaves early ends the command without a word", async () => {
  const main = testProgram(fileURLToPath(new URL("main.ts", import.meta.url)));
  const child = spawn(process.execPath, [main, "manifests", "prerequisites"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.destroy();
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  assert.deepEqual([code, said], [0, ""]);
});
