// The program of the host as tests start it: without pauses, and ended with SIGKILL at the step that SVC_TEST_KILL_AT names,
// or at its n-th time with `step:n`.

import { runHost } from "../host/run.ts";

const { env } = process;
const [killAt, times = "1"] = (env["SVC_TEST_KILL_AT"] ?? "").split(":");
let left = Number(times);

await runHost(env, {
  serversPauseMs: 0,
  ...(env["SVC_TEST_NO_SERVERS"] && { servers: { kind: "read", items: [] } }),
  step: (name) => {
    if (name !== killAt) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, "SIGKILL");
  },
});
