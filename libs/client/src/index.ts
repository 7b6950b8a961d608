// A typed HTTP client derived from the contracts.

export {
  type CallSettings,
  type Client,
  type ClientInput,
  type ClientOutput,
  createClient,
} from "./client.ts";
export { ApiError } from "./error.ts";
export { readEvents, type StreamEvent } from "./events.ts";
