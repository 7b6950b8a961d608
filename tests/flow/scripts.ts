// What scripts use: tokens, the published client, files of servers.

export { assertApiToken } from "./api-token.ts";
export { assertApply } from "./apply.ts";
export { assertPublishedClient } from "./published-client.ts";
