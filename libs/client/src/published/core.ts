// Entry `@svc/client/core`: for bundles, which hold only the operations that they use (docs/reference/client.md#size).

export { ApiError } from "../error.ts";
export type { StreamEvent } from "../events.ts";
export {
  type CallSettings,
  type Client,
  type ClientOptions,
  createClient,
  type Nouns,
} from "./client.ts";
export type { FollowSettings } from "./follow.ts";
export * from "./operations.ts";
export { type FaultCode, isRefused } from "./refusal.ts";
export { type FileToUpload, uploadFile } from "./upload.ts";
