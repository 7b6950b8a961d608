import { isSupportedNats, supportedNats } from "@svc/proto";
import { StackError } from "../error.ts";
import { runCommand } from "../process/run.ts";

/** Version of a server binary as `-v` prints it; undefined when the file is no nats-server or can't run here. */
export async function readNatsVersion(binary: string): Promise<string | undefined> {
  const run = await runCommand(binary, ["-v"]);
  return run.code === 0 ? /v(\d+\.\d+\.\d+)/.exec(run.output)?.[1] : undefined;
}

/** Checks the binary that somebody named explicitly; there is no silent way around a wrong one. */
export async function requireNats(binary: string): Promise<string> {
  const version = await readNatsVersion(binary);
  if (version === undefined) {
    throw new StackError(
      `SVC_NATS_SERVER names ${binary}, which is no nats-server that runs here; correct or unset the variable`,
    );
  }
  if (isSupportedNats(version)) return binary;
  throw new StackError(
    `SVC_NATS_SERVER names nats-server ${version}, and svc needs ${supportedNats}; name a newer one or unset it`,
  );
}
