import { parseConfig } from "./config.ts";
import { startLocalCluster } from "./start.ts";

function say(text: string): void {
  process.stdout.write(`local-cluster: ${text}\n`);
}

function fail(error: unknown): never {
  const text = error instanceof Error ? error.message : String(error);
  process.stderr.write(`local-cluster: ${text}\n`);
  process.exit(1);
}

async function main(): Promise<void> {
  const warn = (text: string) => process.stderr.write(`local-cluster: ${text}\n`);
  const cluster = await startLocalCluster({ ...parseConfig(process.argv.slice(2)), warn });
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    cluster.close().then(() => process.exit(0), fail);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  say(`ready at ${cluster.url}`);
}

main().catch(fail);
