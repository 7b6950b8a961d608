// What scripts use: tokens, the published client, webhooks, files and templates of servers.

export { assertApiToken } from "./api-token.ts";
export { assertApply } from "./apply.ts";
export { assertPublishedClient } from "./published-client.ts";
export { assertTemplates } from "./templates.ts";
export { assertWebhooks, openReceiver, type WebhookReceiver } from "./webhook.ts";
