// What players read at the gate, in the language of their client.

import type { Text } from "@svc/minecraft";
import type { Say, Sentence } from "@svc/proto/language";

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

export const texts = {
  here: {
    en: "This is the login gate: chat and commands work once your account is linked.",
    zh: "这里是登录大门：绑定账号后才能聊天和使用命令。",
  },
  waiting: {
    en: "The sign-in service is not responding. Please wait while we keep trying.",
    zh: "登录服务暂时没有响应。请稍候，我们会继续尝试。",
  },
  linked: { en: "You are signed in. Taking you to the lobby…", zh: "登录成功，正在前往大厅……" },
  kicked: {
    barred: {
      en: "You are barred from this network. If you think this is a mistake, contact the staff.",
      zh: "你不能加入此网络。如果你认为这是误判，请联系管理人员。",
    },
    timeout: {
      en: "The time to link your account has run out. Join again for a new code.",
      zh: "绑定账号的时间已过。请重新加入以获取新的绑定码。",
    },
    service_away: {
      en: "The sign-in service can't be reached right now. Please join again in a few minutes.",
      zh: "登录服务暂时无法连接。请几分钟后再试。",
    },
    service_refuses: {
      en: "You can't sign in right now. Please tell the staff that the login gate was refused.",
      zh: "现在无法登录。请告知管理人员：登录大门被拒绝。",
    },
    proxy_silent: {
      en: "You are signed in, but we could not take you to the lobby. Please join again.",
      zh: "你已登录，但无法把你送到大厅。请重新加入。",
    },
    off: {
      en: "Sign-in is not set up on this network yet. Please tell the staff.",
      zh: "此网络尚未设置登录。请告知管理人员。",
    },
    full: {
      en: "Too many players are signing in right now. Please join again in a minute.",
      zh: "当前登录的玩家过多。请一分钟后再试。",
    },
    closing: {
      en: "The login gate is restarting. Please join again in a moment.",
      zh: "登录大门正在重启，请稍后重新加入。",
    },
  },
  title: { en: "Link your account", zh: "绑定账号" },
  intro: {
    en: "To play here, link this player to an account once.",
    zh: "要在这里游玩，请先把此角色绑定到一个账号（仅需一次）。",
  },
  open: { en: "Open", zh: "打开" },
  enter: { en: "and enter this code:", zh: "并输入绑定码：" },
  valid: {
    en: "The code works once, for {minutes} minutes. You continue automatically.",
    zh: "绑定码只能使用一次，{minutes} 分钟内有效。绑定后会自动继续。",
  },
  openButton: { en: "Open the page", zh: "打开网页" },
  copyButton: { en: "Copy the code", zh: "复制绑定码" },
  openHint: { en: "Click to open the page", zh: "点击打开网页" },
  copyHint: { en: "Click to copy the code", zh: "点击复制绑定码" },
} as const satisfies Record<string, Sentence | Record<string, Sentence>>;

/** The code in chat: the address opens, the code copies itself. */
export function codeLines({ code, url, minutes }: Code, say: Say): Text[] {
  const address: Text = {
    text: url,
    color: "aqua",
    underlined: true,
    click: { open: url },
    hover: say(texts.openHint),
  };
  const typed: Text = {
    text: code,
    color: "gold",
    bold: true,
    click: { copy: code },
    hover: say(texts.copyHint),
  };
  return [
    { text: say(texts.intro), color: "yellow" },
    { text: `${say(texts.open)} `, extra: [address, { text: ` ${say(texts.enter)} ` }, typed] },
    { text: say(texts.valid, { minutes }), color: "gray" },
  ];
}

export function codeCard(code: Code, say: Say): Card {
  return {
    title: say(texts.title),
    body: codeLines(code, say),
    buttons: [
      { label: say(texts.openButton), click: { open: code.url } },
      { label: say(texts.copyButton), click: { copy: code.code } },
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
