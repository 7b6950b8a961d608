// Mails about a server transfer, to the source account (docs/reference/server-transfer.md#states).

import type { Language } from "@svc/proto";
import type { Draft } from "../message.ts";

type Issued = { target: string; validMinutes: number };
type Done = { target: string; servers: number };
type Words = { issued: (about: Issued) => Draft; done: (about: Done) => Draft };

const english: Words = {
  issued: ({ target, validMinutes }) => ({
    subject: "Your servers are about to be transferred",
    paragraphs: [
      `A code was issued that transfers all your servers to the account ${target}. It is valid for ${validMinutes} minutes.`,
      "When it is used, your account is closed. Your worlds are transferred with the servers.",
      "If this was not you, start a server transfer in the game immediately, which invalidates this code, and contact the people who run this server.",
    ],
  }),
  done: ({ target, servers }) => ({
    subject: "Your servers were transferred",
    paragraphs: [
      `Your servers (${servers}) belong to the account ${target} now, and your account was closed.`,
      "If this was not you, contact the people who run this server immediately.",
    ],
  }),
};

const simplifiedChinese: Words = {
  issued: ({ target, validMinutes }) => ({
    subject: "您的服务器即将移交",
    paragraphs: [
      `已签发一个代码，可将您的所有服务器移交给账户 ${target}。代码在 ${validMinutes} 分钟内有效。`,
      "代码使用后，您的账户将被关闭，世界数据随服务器一起移交。",
      "如果这不是您本人的操作，请立即在游戏中重新发起一次移交，使该代码失效，并联系服务器管理人员。",
    ],
  }),
  done: ({ target, servers }) => ({
    subject: "您的服务器已移交",
    paragraphs: [
      `您的服务器（${servers} 个）现已归账户 ${target} 所有，您的账户已关闭。`,
      "如果这不是您本人的操作，请立即联系服务器管理人员。",
    ],
  }),
};

const words: Readonly<Record<Language, Words>> = { en: english, zh: simplifiedChinese };

/** A code was issued that transfers all servers. */
export function serverTransferIssuedDraft(about: Issued, language: Language): Draft {
  return words[language].issued(about);
}

/** The transfer is complete. */
export function serverTransferDoneDraft(about: Done, language: Language): Draft {
  return words[language].done(about);
}
