// Every sentence that a player may read, in English and Chinese (docs/reference/proxy.md#commands: by the client's locale).

import type { Language } from "@svc/proto";

type Values = Readonly<Record<string, string | number>>;

const sentences = {
  gateUnavailable: [
    "The login gate is not available. Please try again in a moment.",
    "登录服务暂不可用，请稍后再试。",
  ],
  notLinked: [
    "Link your account first, with the code that the login gate shows you.",
    "请先使用登录服务显示的绑定码绑定账号。",
  ],
  linkUnknown: [
    "Your account cannot be checked right now. Please wait here; we keep trying.",
    "暂时无法核实你的账号，请在此等候，我们会继续尝试。",
  ],
  barred: [
    "You are barred from this network. If you think this is a mistake, contact the staff.",
    "此玩家已被禁止进入。如有疑问，请联系管理员。",
  ],
  accountDisabled: [
    "Your account was disabled, so you cannot play here. Its staff can tell you why.",
    "你的账号已被停用，无法在此游玩。请联系管理员了解原因。",
  ],
  accountDeleted: [
    "The account that you were linked to was deleted, so you cannot play here.",
    "你绑定的账号已被删除，无法在此游玩。",
  ],
  unlinked: [
    "You are not linked to an account any more. Join again to link one.",
    "你的账号绑定已解除。请重新加入并绑定。",
  ],
  onTheWay: ["You are already being connected to a server.", "正在前往服务器，请稍候。"],
  serverGone: ["{server} does not exist any more.", "服务器 {server} 已不存在。"],
  waking: [
    "{server} is waking up. You are taken there when it is ready.",
    "{server} 正在启动，就绪后会自动带你进入。",
  ],
  coolingDown: [
    "{server} was started or stopped a moment ago. It will be woken in {seconds} s, and you are taken there then.",
    "{server} 刚刚启动或停止过，将在 {seconds} 秒后启动，就绪后会自动带你进入。",
  ],
  stillWaiting: ["Still waiting for {server} ({minutes} min).", "仍在等待 {server}（{minutes} 分钟）。"],
  joining: ["{server} is ready. Taking you there.", "{server} 已就绪，正在传送。"],
  refusedByServer: ["{server} did not let you in: {reason}", "{server} 拒绝了你的连接：{reason}"],
  sentAway: ["{server} sent you to the lobby: {reason}", "{server} 已将你送回大厅：{reason}"],
  lostServer: [
    "The connection to {server} was lost. You are in the lobby now.",
    "与 {server} 的连接已断开，你已回到大厅。",
  ],
  lostLobby: ["The lobby is not available. Please join again.", "大厅暂不可用，请重新加入。"],
  elsewhere: ["You joined from somewhere else.", "你已在其他地方登录。"],
  cannotReach: ["{server} cannot be reached. Please try again.", "无法连接 {server}，请重试。"],
  otherVersion: [
    "{server} runs {serverVersion}; your game is {clientVersion}. Start your game as {serverVersion} to play there.",
    "{server} 运行 {serverVersion}，你的游戏是 {clientVersion}。请用 {serverVersion} 启动游戏后再加入。",
  ],
  tooLong: [
    "{server} did not start within an hour. Try again later.",
    "等待 {server} 已超过一小时，请稍后再试。",
  ],
  noAnswer: ["{server} does not respond. Try again later.", "无法获取 {server} 的状态，请稍后再试。"],
  gaveUp: [
    "{server} could not start. Its owner can start it again on the panel.",
    "{server} 启动失败，服主可在面板上重新启动。",
  ],
  stopped: ["{server} was stopped.", "{server} 已被停止。"],
  wakeForbidden: [
    "You may not start {server}. Ask its owner to let you in, or the staff if it has none.",
    "你无权启动 {server}，请联系服主；如果没有服主，请联系管理员。",
  ],
  wakeUnclaimed: [
    "{server} has no owner yet, so nobody may start it. Claim it in the lobby: type /menu.",
    "{server} 尚无服主，因此无法启动。请在大厅输入 /menu 认领。",
  ],
  maintenance: ["{server} is under maintenance. Try again later.", "{server} 正在维护，请稍后再试。"],
  reclaiming: [
    "The world of {server} is being archived. Try again later.",
    "{server} 的世界正在归档，请稍后再试。",
  ],
  retiring: ["{server} is being retired and cannot be started.", "{server} 正在退役，无法启动。"],
  startFailed: [
    "{server} failed to start. Its owner has to start it on the panel.",
    "{server} 启动失败，需要服主在面板上启动。",
  ],
  atCapacity: ["No more servers can run right now. Try again later.", "运行中的服务器已达上限，请稍后再试。"],
  tryAgain: ["That did not work. Please try again.", "操作未成功，请重试。"],
  busy: ["The proxy is busy. Please try again in a moment.", "代理繁忙，请稍后再试。"],
  tooFast: ["Too fast. Try again in {seconds} s.", "操作太快，请 {seconds} 秒后再试。"],
  serviceDown: ["The service is not responding. Please try again later.", "服务暂时没有响应，请稍后再试。"],
  notInGate: ["Commands work once you are through the login gate.", "通过登录验证后才能使用命令。"],
  routingOff: ["Joining servers through this proxy is switched off.", "此代理未启用服务器路由。"],
  linkCode: [
    "Your code is {code}. Enter it at {panel} before {expires}.",
    "你的绑定码是 {code}，请在 {expires} 前到 {panel} 输入。",
  ],
  alreadyLinked: ["Your account is linked.", "你的账号已绑定。"],
  usage: ["Type /felis help to see the commands.", "输入 /felis help 查看命令。"],
  help: [
    "/link, /felis, /felis list, /felis lobby, /felis go <server>, /felis claim, /felis web, /felis migrate, /invite <player>, /glist",
    "/link、/felis、/felis list、/felis lobby、/felis go <服务器>、/felis claim、/felis web、/felis migrate、/invite <玩家>、/glist",
  ],
  everybody: ["{count} players online: {servers}", "在线玩家 {count} 名：{servers}"],
  status: ["You are on {server}. Waiting for: {waiting}.", "你在 {server}。正在等待：{waiting}。"],
  serverList: ["Servers: {servers}", "服务器：{servers}"],
  noServers: ["There are no servers yet.", "还没有服务器。"],
  serverUnknown: ["There is no server {server}.", "没有名为 {server} 的服务器。"],
  inLobby: ["You are in the lobby already.", "你已在大厅。"],
  claimed: ["{server} is yours now.", "{server} 现在归你所有。"],
  notLinkedYet: ["Your account is not linked yet; type /link.", "你的账号尚未绑定，请输入 /link。"],
  quotaExceeded: ["Your quota is used up.", "你的配额已用完。"],
  alreadyClaimed: ["{server} has an owner already.", "{server} 已有主人。"],
  web: ["Panel: {panel}", "面板：{panel}"],
  noPanel: ["The address of the panel is not known here.", "此处未配置面板地址。"],
  migrateStarted: ["Go on in the panel to move your account.", "请到面板继续迁移账号。"],
  refused: ["Refused: {reason}", "已拒绝：{reason}"],
  opLogin: [
    "{username} ({email}) asks to sign in from {ip}, {agent}. If that is right: /felis web op approve {id} {username}",
    "{username}（{email}）请求从 {ip} 登录，{agent}。确认请输入：/felis web op approve {id} {username}",
  ],
  opApproved: ["Approved the sign-in of {username}.", "已批准 {username} 的登录。"],
  inviteUsage: ["Type /invite <player>.", "请输入 /invite <玩家>。"],
  inviteNoPlayer: ["{player} is not here.", "{player} 不在线。"],
  inviteSelf: ["You are here already.", "你已经在这里了。"],
  inviteNowhere: ["You can only invite from a game server, not from here.", "只能在游戏服务器中发出邀请。"],
  inviteSent: [
    "{player} was invited to {server}. By accepting they may also start it later.",
    "已邀请 {player} 前往 {server}。接受邀请的玩家以后也可以唤醒它。",
  ],
  inviteCard: [
    "{player} invites you to {server}. To accept: /invite accept {id}",
    "{player} 邀请你前往 {server}。接受请输入：/invite accept {id}",
  ],
  inviteOver: ["That invitation has expired.", "该邀请已失效。"],
  draining: ["This proxy is restarting. Please join again.", "代理正在重启，请重新加入。"],
  motdSleeping: ["{name} is asleep. Join to wake it.", "{name} 正在休眠，加入即可唤醒。"],
  motdStarting: ["{name} is starting, about {seconds} s more.", "{name} 正在启动，约需 {seconds} 秒。"],
  motdStartingSoon: ["{name} is starting.", "{name} 正在启动。"],
  motdRunning: ["{name}", "{name}"],
  motdFailed: ["{name} failed to start.", "{name} 启动失败。"],
  motdStopping: ["{name} is stopping.", "{name} 正在停止。"],
  motdUnknown: ["There is no server at this address.", "此地址没有服务器。"],
} as const satisfies Record<string, readonly [string, string]>;

export type SentenceKey = keyof typeof sentences;
export const sentenceKeys = Object.keys(sentences) as SentenceKey[];

/** A sentence with its `{values}` filled in. */
export function say(key: SentenceKey, language: Language, values: Values = {}): string {
  const text: string = sentences[key][language === "zh" ? 1 : 0];
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => clean(String(values[name] ?? whole)));
}

// A name or a reason comes from others: it must not colour the line, nor break it.
function clean(text: string): string {
  return text.replaceAll(/\p{Cc}|§./gu, "").slice(0, 256);
}
