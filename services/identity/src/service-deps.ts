import type { Mesh } from "@svc/mesh";
import type { Logger, Registry } from "@svc/telemetry";
import type { Settings } from "./config.ts";
import type { Deps } from "./deps.ts";
import type { createSendCode } from "./email-code/send.ts";
import type { Mailer } from "./mail/mailer.ts";
import type { Notices } from "./mail/queue.ts";

/** What the table of contents of each noun is given. */
export type Serving = {
  mesh: Mesh;
  deps: Deps;
  settings: Settings;
  mailer: Mailer;
  notices: Notices;
  sendCode: ReturnType<typeof createSendCode>;
  registry: Registry;
  log: Logger;
};
