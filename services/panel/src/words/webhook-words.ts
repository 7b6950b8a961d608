// Words of the pages about webhooks.

import { use } from "react";
import type { WebhookWords } from "./en/webhooks.ts";
import { createLoader } from "./lazy-words.ts";
import { useLanguage } from "./words.ts";

const load = createLoader<WebhookWords>({
  en: async () => (await import("./en/webhooks.ts")).webhooks,
  "zh-CN": async () => (await import("./zh/webhooks.ts")).webhooks,
});

/** Suspends until the catalogue of the person's language is there. */
export function useWebhookWords(): WebhookWords {
  return use(load(useLanguage().language));
}
