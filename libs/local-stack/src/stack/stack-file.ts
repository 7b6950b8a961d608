import { findText, writeFileAtomic } from "../atomic-file.ts";
import type { RunningProcess } from "../supervisor/supervisor.ts";
import { commandHint } from "./hint.ts";

/** Content of `stack.json` (docs/reference/local-stack.md#stack-file): where everything of a running stack is. Mode 0600, it holds secrets. */
export type StackFile = {
  internal_base_url: string;
  external_base_url: string;
  root_domain: string;
  panel_host: string;
  admin_host: string;
  /** Setup link of the first owner; absent once it has been used. */
  setup_url?: string;
  tokens: { velocity: string; limbo: string; build: string; ops: string; sftp: string };
  nats_url: string;
  database_url: string;
  /** Path of a kubeconfig with full rights. */
  kubeconfig: string;
  archive_dir: string;
  mail: { smtp_url: string; dir: string; page: string };
  game: { host: string; port: number };
  /** Absent when the stack runs no SFTP. */
  sftp?: { host: string; port: number };
  forwarding_secret?: string;
  /** The registry of images; `credentials_file` has the passwords of its gate. Absent when the stack runs none. */
  registry?: { host: string; credentials_file: string };
  /** The running processes. */
  processes: RunningProcess[];
};

export function writeStackFile(path: string, stack: StackFile): void {
  writeFileAtomic(path, `${JSON.stringify(stack, null, 2)}\n`);
}

/** Reads `stack.json`; undefined when no stack has become ready there. */
export function findStackFile(path: string): StackFile | undefined {
  const text = findText(path);
  return text === undefined ? undefined : (JSON.parse(text) as StackFile);
}

/** The default port of Minecraft clients. */
export const minecraftPort = 25_565;

/** The summary that is printed for a ready stack. `data`: its folder as printed in commands. */
export function announcement(stack: StackFile, path: string, data?: string): string {
  const { port: externalPort } = new URL(stack.external_base_url);
  const [panel, operators] = [stack.panel_host, stack.admin_host].map(
    (host) => `http://${host}:${externalPort}/`,
  );
  const lines: [string, string][] = [
    ["external", `${stack.external_base_url} (people and programs that act for them)`],
    ["panel", `${panel} (operators: ${operators})`],
    ["internal", `${stack.internal_base_url} (the proxy and other programs)`],
    ["mail", stack.mail.page],
  ];
  if (stack.forwarding_secret !== undefined) {
    const port = stack.game.port === minecraftPort ? "" : `:${stack.game.port}`;
    lines.push([
      "game",
      `NAME.${stack.root_domain}${port} in Minecraft, for example survival.${stack.root_domain}${port}`,
    ]);
  }
  if (stack.sftp) lines.push(["sftp", `sftp -P ${stack.sftp.port} SERVER@${stack.sftp.host}`]);
  if (stack.registry) lines.push(["registry", stack.registry.host]);
  if (stack.setup_url) {
    const setUp = commandHint("svc", "account setup --email YOU@EXAMPLE.NET", data);
    lines.push(["set up", `${stack.setup_url} (in a browser)`], ["or", setUp]);
  }
  lines.push(["details", path], ["stop", commandHint("down", "", data)]);
  return ["svc is ready.", ...lines.map(([name, value]) => `  ${name.padEnd(8)} ${value}`)].join("\n");
}
