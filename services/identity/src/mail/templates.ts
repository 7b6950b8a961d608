// Every mail, in each language; `{name}` is a value.

import { type Language, type Sentence, say } from "@svc/proto/language";
import type { CodePurpose } from "../database.ts";
import { type Mail, type Message, toMessage } from "./message.ts";

const contactStaff: Sentence = {
  en: "If this was not you, contact the people who run this server immediately.",
  zh: "如果这不是您本人的操作，请立即联系服务器管理人员。",
};
const staysIfPlayed: readonly Sentence[] = [
  {
    en: "Nobody has played on {server} for a while. On {moment} its world will be archived and the server released.",
    zh: "{server} 已有一段时间无人游玩。其世界将于 {moment} 归档，服务器将被释放。",
  },
  {
    en: "Join it once before then to keep everything as it is. The archive can be restored later.",
    zh: "在此之前进入服务器一次，一切都会保持不变。归档之后也可以恢复。",
  },
];

const seeCrash: Sentence = {
  en: "The last lines of its log and what can be done are on its page: {link}",
  zh: "日志的最后几行以及处理办法见其页面：{link}",
};
const onceADay: Sentence = {
  en: "You get such a mail about a server at most once a day.",
  zh: "每台服务器的此类邮件每天最多一封。",
};
const aboutCrash: readonly Sentence[] = [
  { en: "The reason: {cause}.", zh: "原因：{cause}。" },
  seeCrash,
  onceADay,
];

const webhookOff: Sentence = {
  en: "A webhook of your server {server} was switched off",
  zh: "您的服务器 {server} 的一个 webhook 已被关闭",
};
const switchOn: Sentence = {
  en: "You can look at it and switch it on again among the settings of the server: {link}",
  zh: "您可以在服务器设置中查看并重新启用：{link}",
};

/** Mails about something that has happened or will. */
export const mails = {
  email_changed: {
    subject: { en: "Your e-mail address was changed", zh: "您的邮箱地址已更改" },
    paragraphs: [
      {
        en: "The e-mail address of your account was changed to {newAddress}, and all other devices were signed out.",
        zh: "您账户的邮箱地址已更改为 {newAddress}，其他所有设备均已退出登录。",
      },
      contactStaff,
    ],
  },
  email_removed: {
    subject: { en: "Your e-mail address was removed from your account", zh: "您的邮箱地址已从账户中移除" },
    paragraphs: [
      {
        en: "Another address was entered for your account, so this one no longer signs you in.",
        zh: "您的账户登记了另一个邮箱地址，因此您无法再用此邮箱登录。",
      },
      contactStaff,
    ],
  },
  codes_locked: {
    subject: { en: "Codes are locked for your account", zh: "您的账户已停用邮件验证码" },
    paragraphs: [
      {
        en: "Too many wrong codes were entered for your account. Codes by mail are locked until {moment}.",
        zh: "您的账户输错验证码的次数过多。邮件验证码已停用，直至 {moment}。",
      },
      {
        en: "Other ways to sign in still work. If this was not you, someone may be guessing codes; nobody has signed in this way.",
        zh: "其他登录方式仍然可用。如果这不是您本人的操作，可能有人在猜测验证码：没有人因此登录成功。",
      },
    ],
  },
  passkey_added: {
    subject: { en: "A passkey was added to your account", zh: "您的账户已添加通行密钥" },
    paragraphs: [
      { en: "{passkey} can now be used to sign in to your account.", zh: "{passkey}现在可以登录您的账户。" },
      {
        en: "If this was not you, sign in, remove it, and contact the people who run this server immediately.",
        zh: "如果这不是您本人的操作，请登录并将其删除，并立即联系服务器管理人员。",
      },
    ],
  },
  passkey_removed: {
    subject: { en: "A passkey was removed from your account", zh: "您的账户已移除通行密钥" },
    paragraphs: [
      {
        en: "{passkey} can no longer be used to sign in to your account, and all other devices were signed out.",
        zh: "{passkey}已无法登录您的账户，其他所有设备均已退出登录。",
      },
      contactStaff,
    ],
  },
  identity_linked: {
    subject: { en: "A way to sign in was added to your account", zh: "您的账户已添加一种登录方式" },
    paragraphs: [
      {
        en: "An identity at {issuer} can now be used to sign in to your account.",
        zh: "{issuer} 的一个身份现在可以登录您的账户。",
      },
      {
        en: "If this was not you, sign in, remove it, and contact the people who run this server immediately.",
        zh: "如果这不是您本人的操作，请登录并将其删除，并立即联系服务器管理人员。",
      },
    ],
  },
  identity_unlinked: {
    subject: { en: "A way to sign in was removed from your account", zh: "您的账户已移除一种登录方式" },
    paragraphs: [
      {
        en: "An identity at {issuer} can no longer be used to sign in to your account, and all other devices were signed out.",
        zh: "{issuer} 的一个身份已无法登录您的账户，其他所有设备均已退出登录。",
      },
      contactStaff,
    ],
  },
  migration_issued: {
    subject: { en: "Your servers are about to be transferred", zh: "您的服务器即将移交" },
    paragraphs: [
      {
        en: "A code was issued that transfers all your servers to the account {target}. It is valid for {validMinutes} minutes.",
        zh: "已签发一个代码，可将您的所有服务器移交给账户 {target}。代码在 {validMinutes} 分钟内有效。",
      },
      {
        en: "When it is used, your account is closed. Your worlds are transferred with the servers.",
        zh: "代码使用后，您的账户将被关闭，世界数据随服务器一起移交。",
      },
      {
        en: "If this was not you, start a server transfer in the game immediately, which invalidates this code, and contact the people who run this server.",
        zh: "如果这不是您本人的操作，请立即在游戏中重新发起一次移交，使该代码失效，并联系服务器管理人员。",
      },
    ],
  },
  migration_done: {
    subject: { en: "Your servers were transferred", zh: "您的服务器已移交" },
    paragraphs: [
      {
        en: "Your servers ({servers}) belong to the account {target} now, and your account was closed.",
        zh: "您的服务器（{servers} 个）现已归账户 {target} 所有，您的账户已关闭。",
      },
      contactStaff,
    ],
  },
  "world-idle-3d": {
    subject: {
      en: "Your server {server} will be archived in 3 days",
      zh: "您的服务器 {server} 将在 3 天后归档",
    },
    paragraphs: staysIfPlayed,
  },
  "world-idle-1d": {
    subject: { en: "Your server {server} will be archived tomorrow", zh: "您的服务器 {server} 将于明天归档" },
    paragraphs: staysIfPlayed,
  },
  "world-reclaimed": {
    subject: { en: "The world of {server} was archived", zh: "{server} 的世界已归档" },
    paragraphs: [
      {
        en: "Nobody played on {server} for a long time, so its world was archived and the server was released.",
        zh: "{server} 长期无人游玩，其世界已归档，服务器已被释放。",
      },
      {
        en: "The archive is kept for a while and listed with your backups; ask the people who run this server to restore it.",
        zh: "归档会保留一段时间，并列在您的备份中；如需恢复，请联系服务器管理人员。",
      },
    ],
  },
  "backup-corrupt": {
    subject: { en: "A backup of {server} is damaged", zh: "{server} 的一个备份已损坏" },
    paragraphs: [
      {
        en: "A backup of {server} failed verification and can no longer be restored.",
        zh: "{server} 的一个备份经校验发现已损坏，无法再用于恢复。",
      },
      {
        en: "Your world itself is not affected. Make a new backup soon.",
        zh: "您的世界本身不受影响。请尽快创建新的备份。",
      },
    ],
  },
  "submission-approved": {
    subject: { en: "Your pack “{pack}” was approved", zh: "您的整合包“{pack}”已通过审核" },
    paragraphs: [
      {
        en: "Your pack “{pack}” was approved and is being built now. You will get another mail when it can be used.",
        zh: "您的整合包“{pack}”已通过审核，正在构建。构建完成后，您会再收到一封邮件。",
      },
    ],
  },
  "submission-rejected": {
    subject: { en: "Your pack “{pack}” was not approved", zh: "您的整合包“{pack}”未通过审核" },
    paragraphs: [
      { en: "Your pack “{pack}” was reviewed and not approved.", zh: "您的整合包“{pack}”经审核未获通过。" },
      { en: "The reason: {reason}", zh: "原因：{reason}" },
      { en: "You can correct it and submit it again.", zh: "您可以修改后重新提交。" },
    ],
  },
  "build-succeeded": {
    subject: { en: "Your pack “{pack}” is ready", zh: "您的整合包“{pack}”已可使用" },
    paragraphs: [
      {
        en: "Your pack “{pack}” was built and scanned. Servers can be made from its image now: {image}",
        zh: "您的整合包“{pack}”已完成构建和扫描，现在可以用其镜像创建服务器：{image}",
      },
    ],
  },
  "build-failed": {
    subject: { en: "Your pack “{pack}” could not be built", zh: "您的整合包“{pack}”构建失败" },
    paragraphs: [
      { en: "The build of your pack “{pack}” failed.", zh: "您的整合包“{pack}”构建失败。" },
      { en: "The cause: {reason}", zh: "原因：{reason}" },
      { en: "You can correct it and submit it again.", zh: "您可以修改后重新提交。" },
    ],
  },
  "server-crashed": {
    subject: { en: "Your server {server} crashed and is stopped", zh: "您的服务器 {server} 已崩溃并停止" },
    paragraphs: [
      {
        en: "{server} crashed on {moment}. Its restart policy leaves it stopped until somebody wakes it.",
        zh: "{server} 于 {moment} 崩溃。按其重启策略，它将保持停止，直到有人唤醒。",
      },
      ...aboutCrash,
    ],
  },
  "server-crash-loop": {
    subject: { en: "Your server {server} keeps crashing", zh: "您的服务器 {server} 反复崩溃" },
    paragraphs: [
      {
        en: "{server} has crashed three times within half an hour, last on {moment}. It is started again each time, after a pause that grows.",
        zh: "{server} 在半小时内已崩溃三次，最近一次是 {moment}。每次都会在逐渐变长的间隔之后重新启动。",
      },
      ...aboutCrash,
    ],
  },
  "server-hung": {
    subject: { en: "Your server {server} no longer answers", zh: "您的服务器 {server} 不再响应" },
    paragraphs: [
      {
        en: "{server} has not answered since {moment}. It is not restarted by itself: stop it and wake it again.",
        zh: "{server} 自 {moment} 起不再响应，也不会自动重启。请将其停止后再唤醒。",
      },
      seeCrash,
      onceADay,
    ],
  },
  "webhook-gone": {
    subject: webhookOff,
    paragraphs: [
      {
        en: "The webhook “{label}” ({host}) of {server} was switched off: its receiver answered that it is gone for good.",
        zh: "{server} 的 webhook“{label}”（{host}）已被关闭：接收方表示该地址已永久失效。",
      },
      switchOn,
    ],
  },
  "webhook-failing": {
    subject: webhookOff,
    paragraphs: [
      {
        en: "The webhook “{label}” ({host}) of {server} was switched off: nothing has arrived there for days.",
        zh: "{server} 的 webhook“{label}”（{host}）已被关闭：连续数日没有任何消息送达。",
      },
      switchOn,
    ],
  },
  "webhook-access-ended": {
    subject: webhookOff,
    paragraphs: [
      {
        en: "The webhook “{label}” ({host}) of {server} was switched off: who saved it last has no access to the settings of the server any more.",
        zh: "{server} 的 webhook“{label}”（{host}）已被关闭：最后保存它的人已不再拥有该服务器的设置权限。",
      },
      switchOn,
    ],
  },
  access_invitation: {
    subject: {
      en: "{inviter} shares the server {server} with you",
      zh: "{inviter} 与您共享服务器 {server}",
    },
    paragraphs: [
      {
        en: "{inviter} invites you to help with the Minecraft server {server}. Sign in with this address to see what is shared, and to accept or decline it:",
        zh: "{inviter} 邀请您协助管理 Minecraft 服务器 {server}。请用此邮箱登录，查看共享内容并接受或拒绝：",
      },
      { en: "{link}", zh: "{link}" },
      {
        en: "The invitation is open until {moment}. Without an account, make one there and verify this address.",
        zh: "邀请有效期至 {moment}。如果还没有账户，请在该页面创建并验证此邮箱。",
      },
      {
        en: "If you do not know {inviter}, ignore this mail; nothing happens without you.",
        zh: "如果您不认识 {inviter}，请忽略此邮件：没有您的操作，不会发生任何变化。",
      },
    ],
  },
} as const satisfies Record<string, Mail>;

/** A passkey, which may have no name, as the subject of a sentence. */
export function passkeyOf(name: string, language: Language): string {
  if (name === "") return say({ en: "A passkey", zh: "一个通行密钥" }, language);
  return say({ en: "The passkey “{name}”", zh: "通行密钥“{name}”" }, language, { name });
}

export const codeUses: Readonly<Record<CodePurpose, Sentence>> = {
  sign_in: { en: "Your code to sign in is:", zh: "您的登录验证码是：" },
  op_login: { en: "Your code to sign in to the operator console is:", zh: "您登录管理控制台的验证码是：" },
  onboard_email: {
    en: "Your code to confirm this e-mail address is:",
    zh: "您验证此邮箱地址的验证码是：",
  },
  reauth: { en: "Your code to confirm your identity is:", zh: "您确认本人身份的验证码是：" },
  migrate_confirm: {
    en: "Your code to confirm the transfer of your servers to another account is:",
    zh: "您确认将服务器移交给另一个账户的验证码是：",
  },
};

/** A code and what it is for. The subject leads with the code, so that it shows in a notification. */
export function codeMessage(
  { purpose, ...values }: { code: string; validMinutes: number; purpose: CodePurpose },
  language: Language,
): Message {
  const mail: Mail = {
    subject: { en: "{code} is your code", zh: "{code} 是您的验证码" },
    paragraphs: [
      codeUses[purpose],
      { strong: "{code}" },
      {
        en: "It is valid for {validMinutes} minutes. Enter it on the page where you requested it, and do not share it with anyone.",
        zh: "验证码在 {validMinutes} 分钟内有效。请在您申请验证码的页面输入，切勿告诉任何人。",
      },
      ...(purpose === "op_login"
        ? [
            {
              en: "The sign-in also has to be approved in the game.",
              zh: "此次登录还需要在游戏中获得批准。",
            },
          ]
        : []),
      {
        en: "If you did not request a code, you can ignore this mail; nothing changes without the code.",
        zh: "如果您没有申请验证码，请忽略此邮件：没有验证码，任何内容都不会更改。",
      },
    ],
  };
  return toMessage(mail, language, values);
}
