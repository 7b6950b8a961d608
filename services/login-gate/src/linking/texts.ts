// What players read at the gate, in the language of their client.

import type { Text } from "@svc/minecraft";
import type { Language } from "@svc/proto/language";
import type { KickReason } from "./policy.ts";

/** A code to redeem, and where. */
type Code = { readonly code: string; readonly url: string; readonly minutes: number };

/** A screen of its own: a dialog where the client has them, else a book. */
export type Card = {
  readonly title: string;
  readonly body: readonly Text[];
  readonly buttons: readonly {
    readonly label: string;
    readonly click: { open: string } | { copy: string };
  }[];
};

type Texts = {
  readonly here: string;
  readonly waiting: string;
  readonly linked: string;
  readonly kicked: Readonly<Record<KickReason | "off" | "full" | "closing", string>>;
  readonly title: string;
  readonly open: string;
  readonly intro: string;
  readonly enter: string;
  readonly valid: (minutes: number) => string;
  readonly openButton: string;
  readonly copyButton: string;
  readonly openHint: string;
  readonly copyHint: string;
};

const english: Texts = {
  here: "This is the login gate: chat and commands work once your account is linked.",
  waiting: "The sign-in service is not responding. Please wait while we keep trying.",
  linked: "You are signed in. Taking you to the lobby…",
  kicked: {
    barred: "You are barred from this network. If you think this is a mistake, contact the staff.",
    timeout: "The time to link your account has run out. Join again for a new code.",
    service_away: "The sign-in service can't be reached right now. Please join again in a few minutes.",
    service_refuses: "You can't sign in right now. Please tell the staff that the login gate was refused.",
    proxy_silent: "You are signed in, but we could not take you to the lobby. Please join again.",
    off: "Sign-in is not set up on this network yet. Please tell the staff.",
    full: "Too many players are signing in right now. Please join again in a minute.",
    closing: "The login gate is restarting. Please join again in a moment.",
  },
  title: "Link your account",
  intro: "To play here, link this player to an account once.",
  open: "Open",
  enter: "and enter this code:",
  valid: (minutes) => `The code works once, for ${minutes} minutes. You continue automatically.`,
  openButton: "Open the page",
  copyButton: "Copy the code",
  openHint: "Click to open the page",
  copyHint: "Click to copy the code",
};

const chinese: Texts = {
  here: "这里是登录大门：绑定账号后才能聊天和使用命令。",
  waiting: "登录服务暂时没有响应。请稍候，我们会继续尝试。",
  linked: "登录成功，正在前往大厅……",
  kicked: {
    barred: "你不能加入此网络。如果你认为这是误判，请联系管理人员。",
    timeout: "绑定账号的时间已过。请重新加入以获取新的绑定码。",
    service_away: "登录服务暂时无法连接。请几分钟后再试。",
    service_refuses: "现在无法登录。请告知管理人员：登录大门被拒绝。",
    proxy_silent: "你已登录，但无法把你送到大厅。请重新加入。",
    off: "此网络尚未设置登录。请告知管理人员。",
    full: "当前登录的玩家过多。请一分钟后再试。",
    closing: "登录大门正在重启，请稍后重新加入。",
  },
  title: "绑定账号",
  intro: "要在这里游玩，请先把此角色绑定到一个账号（仅需一次）。",
  open: "打开",
  enter: "并输入绑定码：",
  valid: (minutes) => `绑定码只能使用一次，${minutes} 分钟内有效。绑定后会自动继续。`,
  openButton: "打开网页",
  copyButton: "复制绑定码",
  openHint: "点击打开网页",
  copyHint: "点击复制绑定码",
};

const words: Readonly<Record<Language, Texts>> = { en: english, zh: chinese };

export function textsOf(language: Language): Texts {
  return words[language];
}

/** The code in chat: the address opens, the code copies itself. */
export function codeLines({ code, url, minutes }: Code, language: Language): Text[] {
  const { intro, open, enter, valid, openHint, copyHint } = words[language];
  const address: Text = {
    text: url,
    color: "aqua",
    underlined: true,
    click: { open: url },
    hover: openHint,
  };
  const typed: Text = { text: code, color: "gold", bold: true, click: { copy: code }, hover: copyHint };
  return [
    { text: intro, color: "yellow" },
    { text: `${open} `, extra: [address, { text: ` ${enter} ` }, typed] },
    { text: valid(minutes), color: "gray" },
  ];
}

export function codeCard(code: Code, language: Language): Card {
  const { title, openButton, copyButton } = words[language];
  return {
    title,
    body: codeLines(code, language),
    buttons: [
      { label: openButton, click: { open: code.url } },
      { label: copyButton, click: { copy: code.code } },
    ],
  };
}

/** A card as a book's page, in colours that can be read on paper. */
export function bookPage({ title, body }: Card): Text {
  const lines = body.flatMap((line) => ["\n\n", onPaper(line)]);
  return { text: title, bold: true, color: "black", extra: [{ text: "", bold: false, extra: lines }] };
}

function onPaper(text: Text): Text {
  if (typeof text === "string") return text;
  const { color: _bright, extra, ...rest } = text;
  const color = rest.click ? "dark_blue" : "black";
  return { ...rest, color, ...(extra ? { extra: extra.map(onPaper) } : {}) };
}

/** Login refusals come before the client has told its language. */
export const bothLanguages = (pick: (words: Texts) => string): string =>
  `${pick(words.en)}\n${pick(words.zh)}`;
