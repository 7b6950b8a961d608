// The archive as a process of its own, ended with SIGKILL at the step that SVC_TEST_KILL_AT names. The settings are JSON in
// SVC_TEST_WAL.

import { createLogger } from "@svc/telemetry";
import { startArchive } from "../wal/archive.ts";

const { env } = process;
const { url, settings } = JSON.parse(env["SVC_TEST_WAL"] ?? "{}");

startArchive({
  ...{ settings, url, replicationUrl: url, now: Date.now, retryMs: 200, markMs: 0 },
  log: createLogger("wal", "silent"),
  onReceived: () => undefined,
  step: (name) => {
    if (name === env["SVC_TEST_KILL_AT"]) process.kill(process.pid, "SIGKILL");
  },
});
