// What players read in the lobby, in the language of their client.

import type { Language } from "@svc/proto/language";

/** Why a server can't be started; each has its text. */
export type Obstacle = "retiring" | "start_failed" | "owner_only" | "allowlist";

/** Error codes that have a text of their own (docs/reference/lobby.md#menu). */
type ErrorCode = "not_linked" | "quota_exceeded" | "already_claimed" | "busy" | "not_found";

export type Texts = {
  readonly welcome: string;
  readonly welcomeButton: string;
  readonly title: (page: number, pages: number) => string;
  readonly join: string;
  readonly claim: string;
  readonly start: string;
  readonly claimHint: string;
  readonly blocked: string;
  readonly reasons: Readonly<Record<Obstacle, string>>;
  readonly cannotStart: (server: string, reason: string) => string;
  readonly phases: Readonly<Record<string, string>>;
  readonly asking: string;
  readonly players: (online: number, max: number) => string;
  readonly previous: string;
  readonly next: string;
  readonly refresh: string;
  readonly joining: (server: string) => string;
  readonly claiming: (server: string) => string;
  readonly starting: (server: string) => string;
  readonly ready: (server: string) => string;
  readonly readyTitle: string;
  readonly empty: string;
  readonly noAnswer: string;
  readonly tooFast: string;
  readonly unknownCommand: string;
  readonly full: string;
  readonly closing: string;
  readonly errors: Readonly<Record<ErrorCode, string>>;
  readonly otherError: string;
};

const english: Texts = {
  welcome: "Welcome to the lobby! ",
  welcomeButton: "[Choose a server]",
  title: (page, pages) => (pages > 1 ? `Servers (${page} of ${pages})` : "Servers"),
  join: "Join",
  claim: "Claim & Start",
  start: "Start",
  claimHint: "It has no owner: right-click to claim it.",
  blocked: "Can't start",
  reasons: {
    retiring: "It is being retired.",
    start_failed: "Its last start failed; its owner has to look into it.",
    owner_only: "Only its owner may start it. If it has none, ask the staff for it.",
    allowlist: "You are not on its allowlist. Ask its owner to invite you with /invite.",
  },
  cannotStart: (server, reason) => `${server} can't be started. ${reason}`,
  phases: {
    Stopped: "Asleep",
    Starting: "Starting",
    Running: "Running",
    Stopping: "Stopping",
    Failed: "Failed",
  },
  asking: "Asking…",
  players: (online, max) => `${online} of ${max} players`,
  previous: "Previous page",
  next: "Next page",
  refresh: "Refresh",
  joining: (server) => `Taking you to ${server}…`,
  claiming: (server) => `Claiming ${server} for you…`,
  starting: (server) => `Starting ${server}. You are taken there once it is ready.`,
  ready: (server) => `${server} is ready. Taking you there…`,
  readyTitle: "Ready",
  empty: "There is no server you can join yet.",
  noAnswer: "The server list did not answer. Please try /menu again in a moment.",
  tooFast: "That was a bit fast. Please wait a moment and try again.",
  unknownCommand: "Type /menu to choose a server.",
  full: "The lobby is full. Please join again in a minute.",
  closing: "The lobby is restarting. Please join again in a moment.",
  errors: {
    not_linked: "Link your account first: type /link.",
    quota_exceeded: "You own as many servers as you are allowed. Give one up before you claim another.",
    already_claimed: "Somebody else claimed this server first.",
    busy: "A lot is going on right now. Please try again in a moment.",
    not_found: "This server no longer exists.",
  },
  otherError: "That did not work. Please try again in a moment.",
};

const chinese: Texts = {
  welcome: "欢迎来到大厅！",
  welcomeButton: "[选择服务器]",
  title: (page, pages) => (pages > 1 ? `服务器（第 ${page} 页，共 ${pages} 页）` : "服务器"),
  join: "加入",
  claim: "认领并启动",
  start: "启动",
  claimHint: "尚无服主：右键点击即可认领。",
  blocked: "无法启动",
  reasons: {
    retiring: "该服务器即将停用。",
    start_failed: "上次启动失败，需要服主处理。",
    owner_only: "只有服主可以启动。如果没有服主，请联系管理员。",
    allowlist: "你不在该服务器的白名单中。请服主用 /invite 邀请你。",
  },
  cannotStart: (server, reason) => `${server} 无法启动。${reason}`,
  phases: {
    Stopped: "休眠中",
    Starting: "启动中",
    Running: "运行中",
    Stopping: "停止中",
    Failed: "启动失败",
  },
  asking: "查询中……",
  players: (online, max) => `玩家 ${online} / ${max}`,
  previous: "上一页",
  next: "下一页",
  refresh: "刷新",
  joining: (server) => `正在前往 ${server}……`,
  claiming: (server) => `正在为你认领 ${server}……`,
  starting: (server) => `正在启动 ${server}，就绪后会自动带你前往。`,
  ready: (server) => `${server} 已就绪，正在前往……`,
  readyTitle: "已就绪",
  empty: "目前没有可以加入的服务器。",
  noAnswer: "服务器列表没有响应，请稍后再次输入 /menu。",
  tooFast: "操作太快了，请稍候再试。",
  unknownCommand: "输入 /menu 选择服务器。",
  full: "大厅已满，请一分钟后再试。",
  closing: "大厅正在重启，请稍后重新加入。",
  errors: {
    not_linked: "请先绑定账号：输入 /link。",
    quota_exceeded: "你拥有的服务器已达上限，请先归还一个再认领。",
    already_claimed: "有人抢先一步：该服务器已有服主。",
    busy: "当前请求过多，请稍后再试。",
    not_found: "该服务器已不存在。",
  },
  otherError: "操作未成功，请稍后再试。",
};

const words: Readonly<Record<Language, Texts>> = { en: english, zh: chinese };

export function textsOf(language: Language): Texts {
  return words[language];
}

/** An error as the player reads it: our own words where there are some, else what the proxy says. */
export function errorText(
  error: { code: string | null; message: string | null },
  language: Language,
): string {
  const { errors, otherError } = words[language];
  const known = Object.entries(errors).find(([code]) => code === error.code)?.[1];
  return known ?? (error.message?.replaceAll(/§./gu, "").slice(0, 300) || otherError);
}
