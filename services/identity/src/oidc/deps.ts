import type { FaceHost } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import type { Deps } from "../deps.ts";
import type { MailQueue } from "../mail/queue.ts";
import type { Provider } from "./provider.ts";

export type OidcDeps = Deps & {
  /** In the order of the settings. */
  providers: readonly Provider[];
  /** Origins of the hosts; undefined for one without a name. */
  origins: Readonly<Record<FaceHost, string | undefined>>;
  mailQueue: Pick<MailQueue, "add" | "wake">;
  log: Logger;
};

/**
 * Where a provider sends the browser back to, exactly as it is registered there. Each has an address of its own, so that an
 * answer that was lured out of one provider cannot come as one of another.
 */
export function redirectUriOf(
  { origins }: Pick<OidcDeps, "origins">,
  host: FaceHost,
  id: string,
): string | undefined {
  const origin = origins[host];
  return origin && `${origin}/login/oidc/${id}`;
}
