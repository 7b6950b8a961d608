// Webhooks of the installation that were switched off by svc: whoever relied on them hears nothing (docs/reference/webhooks.md#off).

import { type Finding, finding } from "../finding.ts";
import type { Probe } from "./probe.ts";

type OffReason = "gone" | "failing" | "restored";
type SwitchedOff = { id: string; label: string; host: string; off_reason: OffReason };

const summaries = {
  gone: {
    en: "The webhook {label} is switched off: {host} says that it is gone.",
    zh: "Webhook {label} 已停用：{host} 表示该地址已不存在。",
  },
  failing: {
    en: "The webhook {label} is switched off: nothing has arrived at {host} for days.",
    zh: "Webhook {label} 已停用：已有数日无法送达 {host}。",
  },
  restored: {
    en: "The webhook {label} ({host}) is switched off since the database was restored.",
    zh: "数据库恢复后，webhook {label}（{host}）已停用。",
  },
} as const;

const hint = {
  en: "Mend the receiver and switch the webhook on at /admin/webhooks, or delete it there.",
  zh: "请修复接收方并在 /admin/webhooks 重新启用该 webhook，或将其删除。",
};

/** Ends when somebody switches it on, or deletes it. */
export function judgeWebhooks(off: readonly SwitchedOff[]): Finding[] {
  return off.map(({ id, label, host, off_reason }) =>
    finding({ key: `webhook/off/${id}`, severity: "warning", hint }, summaries[off_reason], { label, host }),
  );
}

export const webhooks: Probe = {
  prefixes: ["webhook/off/"],
  look: async ({ database }) => {
    const off = await database()
      .selectFrom("webhooks")
      .select(["id", "label", "host", "off_reason"])
      .where("server_name", "is", null)
      .where("enabled", "=", false)
      .where("off_reason", "in", ["gone", "failing", "restored"])
      .orderBy("id")
      .execute();
    return { findings: judgeWebhooks(off as SwitchedOff[]) };
  },
};
