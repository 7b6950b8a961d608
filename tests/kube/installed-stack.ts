// An installation that was not started by `svc up`, as the tests of the local stack see one: the command line and the faces.

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "@svc/local-stack/testing";
import { newestCode, runSvc, type Stack, type StackFile, send } from "../flow/stack.ts";

type Installed = {
  /** Where `stack.json` is written. */
  dir: string;
  /** What it says; without a setup link the command line asks for one over NATS. */
  file: Omit<StackFile, "setup_url"> & { setup_url?: string };
  sessionServer: string;
};

/** Nothing of it can be killed or stopped by the test. */
export function installedStack({ dir, file, sessionServer }: Installed): Stack {
  const data = join(dir, "installation");
  mkdirSync(data, { recursive: true });
  writeFileSync(join(data, "stack.json"), JSON.stringify(file));
  const never = () => {
    throw new Error("not for an installation that svc did not start");
  };
  return {
    sessionServer,
    dataDir: data,
    file: () => ({ setup_url: "", ...file }),
    svc: (...args) => runSvc([...args, "--data", data]),
    internal: (method, path, body) => {
      const headers = { authorization: `Bearer ${file.tokens.velocity}` };
      return send(new URL(path, file.internal_base_url).href, { method, headers, body });
    },
    setUp: async () => {
      const mails = () => (readdirSync(file.mail.dir).length > 0 ? newestCode(file.mail.dir) : undefined);
      const code = until(mails, 15_000, "the mailed code");
      const args = ["account", "setup", "--email", "you@example.test", "--data", data];
      const done = await runSvc(args, code);
      if (done.code !== 0) throw new Error(`svc account setup: ${done.stderr}${done.stdout}`);
    },
    external: never,
    cookie: never,
    becomeOwner: never,
    kill: never,
    expectErrors: () => undefined,
    stop: async () => undefined,
  };
}
