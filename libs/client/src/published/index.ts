// Entry `@svc/client` of the published package: everything that an API token opens (docs/reference/client.md).

import { type Client as ClientOf, type ClientOptions, createClient as createClientOf } from "./client.ts";
import * as operations from "./operations.ts";

export { ApiError } from "../error.ts";
export type { StreamEvent } from "../events.ts";
export type { CallSettings, ClientOptions } from "./client.ts";
export type { FollowSettings } from "./follow.ts";
export { type FaultCode, isRefused } from "./refusal.ts";
export { type FileToUpload, uploadFile } from "./upload.ts";
export { verifyWebhook, type WebhookDelivery } from "./webhook.ts";

export type Client = ClientOf<typeof operations>;

/** Makes a client of every operation that API tokens open. */
export function createClient(options: ClientOptions): Client {
  return createClientOf({ ...options, use: operations });
}
