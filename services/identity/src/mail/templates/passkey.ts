// Mails about passkeys that were added or removed (docs/reference/sign-in.md#passkeys).

import type { Language } from "@svc/proto";
import type { Draft } from "../message.ts";

type PasskeyNotice = "passkey_added" | "passkey_removed";

const english: Record<PasskeyNotice, (name: string) => Draft> = {
  passkey_added: (name) => ({
    subject: "A passkey was added to your account",
    paragraphs: [
      `${name} can now be used to sign in to your account.`,
      "If this was not you, sign in, remove it, and contact the people who run this server immediately.",
    ],
  }),
  passkey_removed: (name) => ({
    subject: "A passkey was removed from your account",
    paragraphs: [
      `${name} can no longer be used to sign in to your account, and all other devices were signed out.`,
      "If this was not you, contact the people who run this server immediately.",
    ],
  }),
};

const chinese: Record<PasskeyNotice, (name: string) => Draft> = {
  passkey_added: (name) => ({
    subject: "您的账户已添加通行密钥",
    paragraphs: [
      `${name}现在可以登录您的账户。`,
      "如果这不是您本人的操作，请登录并将其删除，并立即联系服务器管理人员。",
    ],
  }),
  passkey_removed: (name) => ({
    subject: "您的账户已移除通行密钥",
    paragraphs: [
      `${name}已无法登录您的账户，其他所有设备均已退出登录。`,
      "如果这不是您本人的操作，请立即联系服务器管理人员。",
    ],
  }),
};

/** The draft of a mail; a passkey may have no name. */
export function passkeyDraft(kind: PasskeyNotice, name: string, language: Language): Draft {
  if (language === "zh") return chinese[kind](name === "" ? "一个通行密钥" : `通行密钥“${name}”`);
  return english[kind](name === "" ? "A passkey" : `The passkey “${name}”`);
}
