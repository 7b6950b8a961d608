// The agent, really killed: SIGKILL before its n-th rename, for `KILL_BEFORE=n node killable.ts ...`.

import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

// biome-ignore lint/style/noProcessEnv: an entry of tests, told by the test which step is the last
const last = Number(process.env["KILL_BEFORE"]);
const { rename } = promises;
let count = 0;

promises.rename = async (...args) => {
  count += 1;
  if (count === last) process.kill(process.pid, "SIGKILL");
  await rename(...args);
};
syncBuiltinESMExports();

await import("../main.ts");
