// Runs a whole stack with real servers and fake services, for tests that kill it: run-stack.ts DATA PROGRAMS [only …]
import { resolve } from "node:path";
import { errorText } from "../error.ts";
import { runStack } from "../stack/run.ts";
import { writeFakePrograms } from "./programs.ts";

const [data, programs, ...only] = process.argv.slice(2);
if (!data || !programs) throw new Error("usage: run-stack.ts DATA PROGRAMS [only ...]");

try {
  await runStack({
    data,
    repo: resolve(import.meta.dirname, "../../../.."),
    // biome-ignore lint/style/noProcessEnv: this file is the entry of a process of the tests
    env: process.env,
    ports: "auto",
    only,
    natsConfig: async (passwords) => {
      const users = Object.entries(passwords).map(
        ([user, password]) => `{ user: "${user}", password: "${password}" }`,
      );
      return `authorization { users: [ ${users.join(", ")} ] }`;
    },
    configToml: (facts) => `[server]\nroot_domain = "${facts.rootDomain}"\n`,
    cluster: {
      images: "/dev/null",
      serviceAccounts: ["svc/lifecycle", "svc/storage", "svc/builds", "svc/ops-watchdog"],
    },
    programs: writeFakePrograms(programs),
    say: (line) => console.error(`svc: ${line}`),
    announce: (text) => console.log(text),
  });
} catch (error) {
  console.error(`svc: ${errorText(error)}`);
  process.exitCode = 1;
}
