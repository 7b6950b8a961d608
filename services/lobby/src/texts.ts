// What players read in the lobby, in the language of their client.

import type { Say, Sentence } from "@svc/proto/language";

/** `errors` by the codes that have a text of their own, `reasons` by why a server can't be started (docs/reference/lobby.md#menu). */
export const texts = {
  welcome: { en: "Welcome to the lobby! ", zh: "欢迎来到大厅！" },
  welcomeButton: { en: "[Choose a server]", zh: "[选择服务器]" },
  title: { en: "Servers", zh: "服务器" },
  titleOfPage: { en: "Servers ({page} of {pages})", zh: "服务器（第 {page} 页，共 {pages} 页）" },
  join: { en: "Join", zh: "加入" },
  claim: { en: "Claim & Start", zh: "认领并启动" },
  start: { en: "Start", zh: "启动" },
  claimHint: { en: "It has no owner: right-click to claim it.", zh: "尚无服主：右键点击即可认领。" },
  blocked: { en: "Can't start", zh: "无法启动" },
  reasons: {
    retiring: { en: "It is being retired.", zh: "该服务器即将停用。" },
    start_failed: {
      en: "Its last start failed; its owner has to look into it.",
      zh: "上次启动失败，需要服主处理。",
    },
    owner_only: {
      en: "Only its owner may start it. If it has none, ask the staff for it.",
      zh: "只有服主可以启动。如果没有服主，请联系管理员。",
    },
    allowlist: {
      en: "You are not on its allowlist. Ask its owner to invite you with /invite.",
      zh: "你不在该服务器的白名单中。请服主用 /invite 邀请你。",
    },
  },
  cannotStart: { en: "{server} can't be started. {reason}", zh: "{server} 无法启动。{reason}" },
  phases: {
    Stopped: { en: "Asleep", zh: "休眠中" },
    Starting: { en: "Starting", zh: "启动中" },
    Running: { en: "Running", zh: "运行中" },
    Stopping: { en: "Stopping", zh: "停止中" },
    Failed: { en: "Failed", zh: "启动失败" },
  },
  startsInAbout: { en: "{phase}, starts in about {time}", zh: "{phase}，启动大约需要 {time}" },
  readyInAbout: { en: "{phase}, about {time} more", zh: "{phase}，大约还需 {time}" },
  asking: { en: "Asking…", zh: "查询中……" },
  players: { en: "{online} of {max} players", zh: "玩家 {online} / {max}" },
  previous: { en: "Previous page", zh: "上一页" },
  next: { en: "Next page", zh: "下一页" },
  refresh: { en: "Refresh", zh: "刷新" },
  joining: { en: "Taking you to {server}…", zh: "正在前往 {server}……" },
  claiming: { en: "Claiming {server} for you…", zh: "正在为你认领 {server}……" },
  starting: {
    en: "Starting {server}. You are taken there once it is ready.",
    zh: "正在启动 {server}，就绪后会自动带你前往。",
  },
  ready: { en: "{server} is ready. Taking you there…", zh: "{server} 已就绪，正在前往……" },
  readyTitle: { en: "Ready", zh: "已就绪" },
  empty: { en: "There is no server you can join yet.", zh: "目前没有可以加入的服务器。" },
  noAnswer: {
    en: "The server list did not answer. Please try /menu again in a moment.",
    zh: "服务器列表没有响应，请稍后再次输入 /menu。",
  },
  tooFast: { en: "That was a bit fast. Please wait a moment and try again.", zh: "操作太快了，请稍候再试。" },
  unknownCommand: { en: "Type /menu to choose a server.", zh: "输入 /menu 选择服务器。" },
  full: { en: "The lobby is full. Please join again in a minute.", zh: "大厅已满，请一分钟后再试。" },
  closing: {
    en: "The lobby is restarting. Please join again in a moment.",
    zh: "大厅正在重启，请稍后重新加入。",
  },
  errors: {
    not_linked: { en: "Link your account first: type /link.", zh: "请先绑定账号：输入 /link。" },
    quota_exceeded: {
      en: "You own as many servers as you are allowed. Give one up before you claim another.",
      zh: "你拥有的服务器已达上限，请先归还一个再认领。",
    },
    already_claimed: {
      en: "Somebody else claimed this server first.",
      zh: "有人抢先一步：该服务器已有服主。",
    },
    busy: {
      en: "A lot is going on right now. Please try again in a moment.",
      zh: "当前请求过多，请稍后再试。",
    },
    maintenance_window: {
      en: "Nothing is woken during maintenance. Please try again later.",
      zh: "维护期间无法唤醒服务器，请稍后再试。",
    },
    not_found: { en: "This server no longer exists.", zh: "该服务器已不存在。" },
  },
  otherError: { en: "That did not work. Please try again in a moment.", zh: "操作未成功，请稍后再试。" },
} as const satisfies Record<string, Sentence | Record<string, Sentence>>;

/** Why a server can't be started. */
export type Obstacle = keyof typeof texts.reasons;

/** An error as the player reads it: our own words where there are some, else what the proxy says. */
export function errorText(error: { code: string | null; message: string | null }, say: Say): string {
  const known: Sentence | undefined = Object.entries(texts.errors).find(([code]) => code === error.code)?.[1];
  if (known) return say(known);
  return error.message?.replaceAll(/§./gu, "").slice(0, 300) || say(texts.otherError);
}
