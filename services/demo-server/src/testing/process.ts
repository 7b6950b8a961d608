import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));

/** A demo server in a process of its own, as it runs in a pod. Disposal kills what still lives. */
export async function startProcess(dataDir: string, environment: Record<string, string | undefined>) {
  const settings = { DATA_DIR: dataDir, GAME_PORT: "0", RCON_PORT: "0", RCON_PASSWORD: "test" };
  const child = spawn(process.execPath, [main], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...settings, ...environment },
  });
  const exited = once(child, "exit").then(([code, signal]) => ({ code, signal }));
  const output = watchLines(child);
  return {
    child,
    exited,
    output,
    ready: async () => {
      await output.line(/Done \(/);
      const port = (text: string) => Number(/:(\d+)$/.exec(text)?.[1]);
      const [game, rcon] = await Promise.all([
        output.line(/Starting Minecraft/),
        output.line(/RCON running/),
      ]);
      return { gamePort: port(game), rconPort: port(rcon) };
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

export type DemoProcess = Awaited<ReturnType<typeof startProcess>>;

function watchLines(child: ChildProcess) {
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const look of waiting) look();
  };
  let isOver = false;
  if (child.stdout) {
    createInterface({ input: child.stdout })
      .on("line", (line) => {
        lines.push(line);
        wake();
      })
      .on("close", () => {
        isOver = true;
        wake();
      });
  }
  /** The first line that fits, printed already or later. */
  const line = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const found = lines.find((text) => pattern.test(text));
        if (found === undefined && !isOver) return;
        waiting.delete(look);
        if (found !== undefined) resolve(found);
        else reject(new Error(`The server ended without printing ${pattern}:\n${lines.join("\n")}`));
      };
      waiting.add(look);
      look();
    });
  return { lines, line };
}

export async function temporaryDir() {
  const path = await mkdtemp(join(tmpdir(), "svc-demo-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
