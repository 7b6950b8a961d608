// Mails about worlds, which storage requests (docs/reference/reaper.md#warnings). Each names the server and, where it matters, a time.

import type { Language } from "@svc/proto";
import type { Draft } from "../message.ts";

type WorldNotice = "world-idle-3d" | "world-idle-1d" | "world-reclaimed" | "backup-corrupt";
type About = { server: string; moment: string };

const english: Record<WorldNotice, (about: About) => Draft> = {
  "world-idle-3d": ({ server, moment }) => ({
    subject: `Your server ${server} will be archived in 3 days`,
    paragraphs: [
      `Nobody has played on ${server} for a while. On ${moment} its world will be archived and the server released.`,
      "Join it once before then to keep everything as it is. The archive can be restored later.",
    ],
  }),
  "world-idle-1d": ({ server, moment }) => ({
    subject: `Your server ${server} will be archived tomorrow`,
    paragraphs: [
      `Nobody has played on ${server} for a while. On ${moment} its world will be archived and the server released.`,
      "Join it once before then to keep everything as it is. The archive can be restored later.",
    ],
  }),
  "world-reclaimed": ({ server }) => ({
    subject: `The world of ${server} was archived`,
    paragraphs: [
      `Nobody played on ${server} for a long time, so its world was archived and the server was released.`,
      "The archive is kept for a while and listed with your backups; ask the people who run this server to restore it.",
    ],
  }),
  "backup-corrupt": ({ server }) => ({
    subject: `A backup of ${server} is damaged`,
    paragraphs: [
      `A backup of ${server} failed verification and can no longer be restored.`,
      "Your world itself is not affected. Make a new backup soon.",
    ],
  }),
};

const chinese: Record<WorldNotice, (about: About) => Draft> = {
  "world-idle-3d": ({ server, moment }) => ({
    subject: `您的服务器 ${server} 将在 3 天后归档`,
    paragraphs: [
      `${server} 已有一段时间无人游玩。其世界将于 ${moment} 归档，服务器将被释放。`,
      "在此之前进入服务器一次，一切都会保持不变。归档之后也可以恢复。",
    ],
  }),
  "world-idle-1d": ({ server, moment }) => ({
    subject: `您的服务器 ${server} 将于明天归档`,
    paragraphs: [
      `${server} 已有一段时间无人游玩。其世界将于 ${moment} 归档，服务器将被释放。`,
      "在此之前进入服务器一次，一切都会保持不变。归档之后也可以恢复。",
    ],
  }),
  "world-reclaimed": ({ server }) => ({
    subject: `${server} 的世界已归档`,
    paragraphs: [
      `${server} 长期无人游玩，其世界已归档，服务器已被释放。`,
      "归档会保留一段时间，并列在您的备份中；如需恢复，请联系服务器管理人员。",
    ],
  }),
  "backup-corrupt": ({ server }) => ({
    subject: `${server} 的一个备份已损坏`,
    paragraphs: [
      `${server} 的一个备份经校验发现已损坏，无法再用于恢复。`,
      "您的世界本身不受影响。请尽快创建新的备份。",
    ],
  }),
};

/** The draft of a mail about a world; `moment` is formatted for the reader. */
export function worldDraft(kind: WorldNotice, about: About, language: Language): Draft {
  return (language === "zh" ? chinese : english)[kind](about);
}
