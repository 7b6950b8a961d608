// Every sentence that a player may read (docs/reference/proxy.md#commands: by the client's locale).

import { type Language, type Sentence, say as sayAny } from "@svc/proto/language";

export const sentences = {
  gateUnavailable: {
    en: "The login gate is not available. Please try again in a moment.",
    zh: "登录服务暂不可用，请稍后再试。",
  },
  notLinked: {
    en: "Link your account first, with the code that the login gate shows you.",
    zh: "请先使用登录服务显示的绑定码绑定账号。",
  },
  linkUnknown: {
    en: "Your account cannot be checked right now. Please wait here; we keep trying.",
    zh: "暂时无法核实你的账号，请在此等候，我们会继续尝试。",
  },
  barred: {
    en: "You are barred from this network. If you think this is a mistake, contact the staff.",
    zh: "此玩家已被禁止进入。如有疑问，请联系管理员。",
  },
  accountDisabled: {
    en: "Your account was disabled, so you cannot play here. Its staff can tell you why.",
    zh: "你的账号已被停用，无法在此游玩。请联系管理员了解原因。",
  },
  accountDeleted: {
    en: "The account that you were linked to was deleted, so you cannot play here.",
    zh: "你绑定的账号已被删除，无法在此游玩。",
  },
  unlinked: {
    en: "You are not linked to an account any more. Join again to link one.",
    zh: "你的账号绑定已解除。请重新加入并绑定。",
  },
  onTheWay: { en: "You are already being connected to a server.", zh: "正在前往服务器，请稍候。" },
  serverGone: { en: "{server} does not exist any more.", zh: "服务器 {server} 已不存在。" },
  waking: {
    en: "{server} is waking up. You are taken there when it is ready.",
    zh: "{server} 正在启动，就绪后会自动带你进入。",
  },
  wakingAbout: {
    en: "{server} is waking up, which takes about {time}. You are taken there when it is ready.",
    zh: "{server} 正在启动，大约需要 {time}，就绪后会自动带你进入。",
  },
  coolingDown: {
    en: "{server} was started or stopped a moment ago. It will be woken in {seconds} s, and you are taken there then.",
    zh: "{server} 刚刚启动或停止过，将在 {seconds} 秒后启动，就绪后会自动带你进入。",
  },
  stillWaiting: {
    en: "Still waiting for {server} ({minutes} min).",
    zh: "仍在等待 {server}（{minutes} 分钟）。",
  },
  stillWaitingAbout: {
    en: "Still waiting for {server}, about {time} more.",
    zh: "仍在等待 {server}，大约还需 {time}。",
  },
  stillWaitingLate: {
    en: "Still waiting for {server} ({minutes} min). It takes longer than usual.",
    zh: "仍在等待 {server}（{minutes} 分钟），比平时慢一些。",
  },
  joining: { en: "{server} is ready. Taking you there.", zh: "{server} 已就绪，正在传送。" },
  refusedByServer: { en: "{server} did not let you in: {reason}", zh: "{server} 拒绝了你的连接：{reason}" },
  sentAway: { en: "{server} sent you to the lobby: {reason}", zh: "{server} 已将你送回大厅：{reason}" },
  lostServer: {
    en: "The connection to {server} was lost. You are in the lobby now.",
    zh: "与 {server} 的连接已断开，你已回到大厅。",
  },
  lostLobby: { en: "The lobby is not available. Please join again.", zh: "大厅暂不可用，请重新加入。" },
  elsewhere: { en: "You joined from somewhere else.", zh: "你已在其他地方登录。" },
  cannotReach: { en: "{server} cannot be reached. Please try again.", zh: "无法连接 {server}，请重试。" },
  otherVersion: {
    en: "{server} runs {serverVersion}; your game is {clientVersion}. Start your game as {serverVersion} to play there.",
    zh: "{server} 运行 {serverVersion}，你的游戏是 {clientVersion}。请用 {serverVersion} 启动游戏后再加入。",
  },
  tooLong: {
    en: "{server} did not start within an hour. Try again later.",
    zh: "等待 {server} 已超过一小时，请稍后再试。",
  },
  noAnswer: {
    en: "{server} does not respond. Try again later.",
    zh: "无法获取 {server} 的状态，请稍后再试。",
  },
  gaveUp: {
    en: "{server} could not start. Its owner can start it again on the panel.",
    zh: "{server} 启动失败，服主可在面板上重新启动。",
  },
  stopped: { en: "{server} was stopped.", zh: "{server} 已被停止。" },
  wakeForbidden: {
    en: "You may not start {server}. Ask its owner to let you in, or the staff if it has none.",
    zh: "你无权启动 {server}，请联系服主；如果没有服主，请联系管理员。",
  },
  wakeUnclaimed: {
    en: "{server} has no owner yet, so nobody may start it. Claim it in the lobby: type /menu.",
    zh: "{server} 尚无服主，因此无法启动。请在大厅输入 /menu 认领。",
  },
  maintenance: {
    en: "{server} is under maintenance. Try again later.",
    zh: "{server} 正在维护，请稍后再试。",
  },
  maintenanceWindow: {
    en: "{server} is asleep and cannot be woken during maintenance, which ends in about {time}: {text}",
    zh: "{server} 正在休眠，维护期间无法唤醒，维护大约还需 {time}：{text}",
  },
  maintenanceNow: {
    en: "{server} is asleep and cannot be woken during maintenance. Try again later.",
    zh: "{server} 正在休眠，维护期间无法唤醒，请稍后再试。",
  },
  announced: { en: "Announcement: {text}", zh: "公告：{text}" },
  maintenanceSoon: {
    en: "Maintenance begins in about {time}: {text} From then on no sleeping server can be woken.",
    zh: "维护大约将在 {time}后开始：{text} 届时将无法唤醒休眠的服务器。",
  },
  maintenanceBegun: {
    en: "Maintenance ends in about {time}: {text} Until then no sleeping server can be woken.",
    zh: "正在维护，大约还需 {time}：{text} 在此期间无法唤醒休眠的服务器。",
  },
  reclaiming: {
    en: "The world of {server} is being archived. Try again later.",
    zh: "{server} 的世界正在归档，请稍后再试。",
  },
  retiring: { en: "{server} is being retired and cannot be started.", zh: "{server} 正在退役，无法启动。" },
  startFailed: {
    en: "{server} failed to start. Its owner has to start it on the panel.",
    zh: "{server} 启动失败，需要服主在面板上启动。",
  },
  atCapacity: {
    en: "No more servers can run right now. Try again later.",
    zh: "运行中的服务器已达上限，请稍后再试。",
  },
  tryAgain: { en: "That did not work. Please try again.", zh: "操作未成功，请重试。" },
  busy: { en: "The proxy is busy. Please try again in a moment.", zh: "代理繁忙，请稍后再试。" },
  tooFast: { en: "Too fast. Try again in {seconds} s.", zh: "操作太快，请 {seconds} 秒后再试。" },
  serviceDown: {
    en: "The service is not responding. Please try again later.",
    zh: "服务暂时没有响应，请稍后再试。",
  },
  notInGate: { en: "Commands work once you are through the login gate.", zh: "通过登录验证后才能使用命令。" },
  routingOff: { en: "Joining servers through this proxy is switched off.", zh: "此代理未启用服务器路由。" },
  linkCode: {
    en: "Your code is {code}. Enter it at {panel} before {expires}.",
    zh: "你的绑定码是 {code}，请在 {expires} 前到 {panel} 输入。",
  },
  alreadyLinked: { en: "Your account is linked.", zh: "你的账号已绑定。" },
  usage: { en: "Type /felis help to see the commands.", zh: "输入 /felis help 查看命令。" },
  help: {
    en: "/link, /felis, /felis list, /felis lobby, /felis go <server>, /felis claim, /felis web, /felis migrate, /invite <player>, /glist",
    zh: "/link、/felis、/felis list、/felis lobby、/felis go <服务器>、/felis claim、/felis web、/felis migrate、/invite <玩家>、/glist",
  },
  everybody: { en: "{count} players online: {servers}", zh: "在线玩家 {count} 名：{servers}" },
  status: { en: "You are on {server}. Waiting for: {waiting}.", zh: "你在 {server}。正在等待：{waiting}。" },
  serverList: { en: "Servers: {servers}", zh: "服务器：{servers}" },
  noServers: { en: "There are no servers yet.", zh: "还没有服务器。" },
  serverUnknown: { en: "There is no server {server}.", zh: "没有名为 {server} 的服务器。" },
  inLobby: { en: "You are in the lobby already.", zh: "你已在大厅。" },
  claimed: { en: "{server} is yours now.", zh: "{server} 现在归你所有。" },
  notLinkedYet: { en: "Your account is not linked yet; type /link.", zh: "你的账号尚未绑定，请输入 /link。" },
  quotaExceeded: { en: "Your quota is used up.", zh: "你的配额已用完。" },
  alreadyClaimed: { en: "{server} has an owner already.", zh: "{server} 已有主人。" },
  web: { en: "Panel: {panel}", zh: "面板：{panel}" },
  noPanel: { en: "The address of the panel is not known here.", zh: "此处未配置面板地址。" },
  migrateStarted: { en: "Go on in the panel to move your account.", zh: "请到面板继续迁移账号。" },
  refused: { en: "Refused: {reason}", zh: "已拒绝：{reason}" },
  opLogin: {
    en: "{username} ({email}) asks to sign in from {ip}, {agent}. If that is right: /felis web op approve {id} {username}",
    zh: "{username}（{email}）请求从 {ip} 登录，{agent}。确认请输入：/felis web op approve {id} {username}",
  },
  opApproved: { en: "Approved the sign-in of {username}.", zh: "已批准 {username} 的登录。" },
  inviteUsage: { en: "Type /invite <player>.", zh: "请输入 /invite <玩家>。" },
  inviteNoPlayer: { en: "{player} is not here.", zh: "{player} 不在线。" },
  inviteSelf: { en: "You are here already.", zh: "你已经在这里了。" },
  inviteNowhere: {
    en: "You can only invite from a game server, not from here.",
    zh: "只能在游戏服务器中发出邀请。",
  },
  inviteSent: {
    en: "{player} was invited to {server}. By accepting they may also start it later.",
    zh: "已邀请 {player} 前往 {server}。接受邀请的玩家以后也可以唤醒它。",
  },
  inviteCard: {
    en: "{player} invites you to {server}. To accept: /invite accept {id}",
    zh: "{player} 邀请你前往 {server}。接受请输入：/invite accept {id}",
  },
  inviteOver: { en: "That invitation has expired.", zh: "该邀请已失效。" },
  draining: { en: "This proxy is restarting. Please join again.", zh: "代理正在重启，请重新加入。" },
  motdSleeping: { en: "{name} is asleep. Join to wake it.", zh: "{name} 正在休眠，加入即可唤醒。" },
  motdSleepingAbout: {
    en: "{name} is asleep. Join to wake it, which takes about {time}.",
    zh: "{name} 正在休眠，加入即可唤醒，大约需要 {time}。",
  },
  motdMaintenance: {
    en: "{name} is asleep and cannot be woken during maintenance.",
    zh: "{name} 正在休眠，维护期间无法唤醒。",
  },
  motdStarting: {
    en: "{name} is starting, about {time} more.",
    zh: "{name} 正在启动，大约还需 {time}。",
  },
  motdStartingAnyMoment: {
    en: "{name} is starting and ready any moment now.",
    zh: "{name} 正在启动，马上就好。",
  },
  motdStartingLate: {
    en: "{name} is starting, which takes longer than usual.",
    zh: "{name} 正在启动，比平时慢一些。",
  },
  motdStartingSoon: { en: "{name} is starting.", zh: "{name} 正在启动。" },
  motdRunning: { en: "{name}", zh: "{name}" },
  motdFailed: { en: "{name} failed to start.", zh: "{name} 启动失败。" },
  motdStopping: { en: "{name} is stopping.", zh: "{name} 正在停止。" },
  motdUnknown: { en: "There is no server at this address.", zh: "此地址没有服务器。" },
} as const satisfies Record<string, Sentence>;

export type SentenceKey = keyof typeof sentences;

/** A sentence with its values, which come from others: they must not colour the line, nor break it. */
export function say(
  key: SentenceKey,
  language: Language,
  values: Readonly<Record<string, string | number>> = {},
): string {
  const sentence: Sentence = sentences[key];
  const safe = Object.entries(values).map(([name, value]) => [
    name,
    String(value)
      .replaceAll(/\p{Cc}|§./gu, "")
      .slice(0, 256),
  ]);
  return sayAny(sentence, language, Object.fromEntries(safe));
}
