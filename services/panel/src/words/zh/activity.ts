import type { Words } from "../en/index.ts";

export const activity: Words["activity"] = {
  title: "活动",
  none: "还没有任何活动",
  noneHelp: "您、其他人和平台对此服务器所做的事会列在这里。",
  older: "显示更早的条目",
  by: {
    you: "您",
    account: "已删除的账号",
    staff: "管理员",
    player: "游戏中的玩家",
    svc: "平台",
  },
  accessOf: (name) => `${name} 的访问权限`,
  given: (rights) => `授予：${rights}`,
  taken: (rights) => `收回：${rights}`,
  before: (now, was) => `${now}（之前：${was}）`,
  unlimited: "不限",
  endless: "永不",
  access: {
    "access.ban.ban": "封禁了玩家",
    "access.ban.pardon": "解除了封禁",
    "access.group.add": "把玩家加入权限组",
    "access.group.remove": "把玩家移出权限组",
    "access.permission.set": "设置了权限",
    "access.permission.unset": "移除了权限",
    "access.whitelist.add": "把玩家加入白名单",
    "access.whitelist.remove": "把玩家移出白名单",
    "server.status_page.on": "公开状态已开启",
    "server.status_page.off": "公开状态已关闭",
  },
};
