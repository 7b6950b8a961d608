import type { FaceHost } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import type { Deps } from "../deps.ts";
import type { MailQueue } from "../mail/queue.ts";
import type { Provider } from "./provider.ts";

export type OidcDeps = Deps & {
  /** In the order of the settings. */
  providers: readonly Provider[];
  /** Where a provider sends the browser back to, exactly as it is registered there; undefined on a host without a name. */
  redirectUris: Readonly<Record<FaceHost, string | undefined>>;
  mailQueue: Pick<MailQueue, "add" | "wake">;
  log: Logger;
};
