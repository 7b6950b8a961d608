// The demo game server without svc: started the way the node agent does, timed until RCON lets us in.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "@svc/local-stack";
import { until } from "@svc/local-stack/testing";
import { probe } from "@svc/rcon";
import { root } from "./anchors.ts";

const pollTimeoutMs = 1_000;

/** Milliseconds from the start of the process, with an empty world, to the first authenticated RCON command. */
export async function startBareGame(): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), "svc-bench-game-"));
  const password = randomBytes(12).toString("hex");
  const [gamePort, rconPort] = [await findFreePort(), await findFreePort()];
  const env = {
    ...process.env,
    NODE_COMPILE_CACHE: join(root, "node_modules/.cache/v8"),
    DATA_DIR: dataDir,
    GAME_PORT: String(gamePort),
    RCON_PORT: String(rconPort),
    RCON_PASSWORD: password,
  };
  const startedAt = performance.now();
  const main = join(root, "services/demo-server/src/main.ts");
  const child = spawn(process.execPath, [main], { env, stdio: ["ignore", "ignore", "inherit"] });
  const exited = new Promise((settle) => child.once("exit", settle));
  try {
    await until(
      () => {
        if (child.exitCode !== null) throw new Error(`the game server ended with ${child.exitCode}`);
        return probe({ host: "127.0.0.1", port: rconPort, password, timeoutMs: pollTimeoutMs }).then(
          () => true,
          () => false,
        );
      },
      120_000,
      "the game server to let RCON in",
    );
    return performance.now() - startedAt;
  } finally {
    child.kill("SIGTERM");
    await exited;
    rmSync(dataDir, { recursive: true, force: true });
  }
}
