// Mails about signing in and the address of an account.

import type { Language } from "@svc/proto";
import type { CodePurpose } from "../../database.ts";
import { type Draft, type Message, toMessage } from "../message.ts";

type Code = { code: string; validMinutes: number; purpose: CodePurpose };
type Templates = {
  code: (about: Code) => Draft;
  emailChanged: (about: { newAddress: string }) => Draft;
  emailRemoved: () => Draft;
  codesLocked: (about: { moment: string }) => Draft;
};

const englishUses: Readonly<Record<CodePurpose, string>> = {
  sign_in: "Your code to sign in is:",
  op_login: "Your code to sign in to the operator console is:",
  onboard_email: "Your code to confirm this e-mail address is:",
  reauth: "Your code to confirm your identity is:",
  migrate_confirm: "Your code to confirm the transfer of your servers to another account is:",
};

const english: Templates = {
  code: ({ code, validMinutes, purpose }) => ({
    subject: `${code} is your code`,
    paragraphs: [
      englishUses[purpose],
      { strong: code },
      `It is valid for ${validMinutes} minutes. Enter it on the page where you requested it, and do not share it with anyone.`,
      ...(purpose === "op_login" ? ["The sign-in also has to be approved in the game."] : []),
      "If you did not request a code, you can ignore this mail; nothing changes without the code.",
    ],
  }),
  emailChanged: ({ newAddress }) => ({
    subject: "Your e-mail address was changed",
    paragraphs: [
      `The e-mail address of your account was changed to ${newAddress}, and all other devices were signed out.`,
      "If this was not you, contact the people who run this server immediately.",
    ],
  }),
  emailRemoved: () => ({
    subject: "Your e-mail address was removed from your account",
    paragraphs: [
      "Another address was entered for your account, so this one no longer signs you in.",
      "If this was not you, contact the people who run this server immediately.",
    ],
  }),
  codesLocked: ({ moment }) => ({
    subject: "Codes are locked for your account",
    paragraphs: [
      `Too many wrong codes were entered for your account. Codes by mail are locked until ${moment}.`,
      "Other ways to sign in still work. If this was not you, someone may be guessing codes; nobody has signed in this way.",
    ],
  }),
};

const chineseUses: Readonly<Record<CodePurpose, string>> = {
  sign_in: "您的登录验证码是：",
  op_login: "您登录管理控制台的验证码是：",
  onboard_email: "您验证此邮箱地址的验证码是：",
  reauth: "您确认本人身份的验证码是：",
  migrate_confirm: "您确认将服务器移交给另一个账户的验证码是：",
};

const chinese: Templates = {
  code: ({ code, validMinutes, purpose }) => ({
    subject: `${code} 是您的验证码`,
    paragraphs: [
      chineseUses[purpose],
      { strong: code },
      `验证码在 ${validMinutes} 分钟内有效。请在您申请验证码的页面输入，切勿告诉任何人。`,
      ...(purpose === "op_login" ? ["此次登录还需要在游戏中获得批准。"] : []),
      "如果您没有申请验证码，请忽略此邮件：没有验证码，任何内容都不会更改。",
    ],
  }),
  emailChanged: ({ newAddress }) => ({
    subject: "您的邮箱地址已更改",
    paragraphs: [
      `您账户的邮箱地址已更改为 ${newAddress}，其他所有设备均已退出登录。`,
      "如果这不是您本人的操作，请立即联系服务器管理人员。",
    ],
  }),
  emailRemoved: () => ({
    subject: "您的邮箱地址已从账户中移除",
    paragraphs: [
      "您的账户登记了另一个邮箱地址，因此您无法再用此邮箱登录。",
      "如果这不是您本人的操作，请立即联系服务器管理人员。",
    ],
  }),
  codesLocked: ({ moment }) => ({
    subject: "您的账户已停用邮件验证码",
    paragraphs: [
      `您的账户输错验证码的次数过多。邮件验证码已停用，直至 ${moment}。`,
      "其他登录方式仍然可用。如果这不是您本人的操作，可能有人在猜测验证码：没有人因此登录成功。",
    ],
  }),
};

const templates: Readonly<Record<Language, Templates>> = { en: english, zh: chinese };

/** A code and what it is for. The subject leads with the code, so that it shows in a notification. */
export function codeMessage(about: Code, language: Language = "en"): Message {
  return toMessage(templates[language].code(about), language);
}

/** To the address that was replaced: where the account's mail goes now. */
export function emailChangedMessage(about: { newAddress: string }, language: Language = "en"): Message {
  return toMessage(templates[language].emailChanged(about), language);
}

/** To a verified address that no longer counts, though no other has been verified yet. */
export function emailRemovedMessage(language: Language = "en"): Message {
  return toMessage(templates[language].emailRemoved(), language);
}

/** Somebody may be guessing codes. `until` is RFC 3339. */
export function codesLockedMessage({ until }: { until: string }, language: Language = "en"): Message {
  const moment = `${until.slice(0, 10)} ${until.slice(11, 16)} UTC`;
  return toMessage(templates[language].codesLocked({ moment }), language);
}
