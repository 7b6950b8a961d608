// What scripts use: tokens, the published client, files of servers.

export { assertAccess } from "./access.ts";
export { assertApiToken } from "./api-token.ts";
export { assertApply } from "./apply.ts";
export { assertPublishedClient } from "./published-client.ts";
