import type { Words } from "../en/index.ts";

export const fleet: Words["fleet"] = {
  filters: {
    all: "全部",
    awake: "运行",
    asleep: "休眠",
    attention: "需要处理",
    failed: "失败",
    unowned: "无所有者",
  },
  sorts: {
    name: "按名称",
    phase: "按状态",
    players: "按玩家数",
    owner: "按所有者",
    node: "按节点",
  },
  onNode: (node) => `节点 ${node} 上的服务器`,
  allNodes: "显示所有节点",
  select: (name) => `选择 ${name}`,
  selectAll: (n) => `选择全部 ${n} 台`,
  selected: (n) => `已选择 ${n} 台服务器`,
  clear: "清除选择",
  bulk: "已选择的服务器",
  acts: { wake: "唤醒", stop: "停止", backup: "备份" },
  actions: {
    wake: (n) => `唤醒 ${n} 台服务器`,
    stop: (n) => `停止 ${n} 台服务器`,
    backup: (n) => `备份 ${n} 台服务器`,
  },
  confirm: {
    wake: (n) => `要唤醒 ${n} 台服务器吗？`,
    stop: (n) => `要停止 ${n} 台服务器吗？`,
    backup: (n) => `要备份 ${n} 台服务器吗？`,
  },
  help: {
    wake: "平台有余量才会启动；其余的会被拒绝，可以稍后重试。",
    stop: "在线玩家会看到通知，并被移到大厅。",
    backup: "只备份休眠中的服务器的世界；其余的会被拒绝。",
  },
  runs: {
    wake: (n) => `正在唤醒 ${n} 台服务器`,
    stop: (n) => `正在停止 ${n} 台服务器`,
    backup: (n) => `正在备份 ${n} 台服务器`,
  },
  progress: (done, failed, left) =>
    [
      `${done} 台已接受`,
      ...(failed > 0 ? [`${failed} 台被拒绝`] : []),
      ...(left > 0 ? [`剩余 ${left} 台`] : []),
    ].join(" · "),
  states: {
    waiting: "等待中",
    running: "请求中",
    done: "已接受",
    failed: "被拒绝",
    skipped: "已跳过",
  },
  results: "结果",
  abort: "到此为止",
  retry: (n) => `重试 ${n} 台`,
  close: "关闭结果",
};
