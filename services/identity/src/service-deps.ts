import type { Mesh } from "@svc/mesh";
import type { Logger, Registry } from "@svc/telemetry";
import type { Background } from "./background.ts";
import type { Settings } from "./config.ts";
import type { Deps } from "./deps.ts";
import type { SendCode } from "./email-code/send.ts";
import type { LastUses } from "./last-uses.ts";
import type { Mailer } from "./mail/mailer.ts";
import type { MailQueue } from "./mail/queue.ts";

/** All that a start makes; `serve.ts` of each noun hands it on, and a handler names the part that it needs. */
export type ServiceDeps = Deps & {
  mesh: Mesh;
  settings: Settings;
  mailer: Mailer;
  mailQueue: MailQueue;
  sendCode: SendCode;
  background: Background;
  lastUses: LastUses;
  registry: Registry;
  log: Logger;
};
