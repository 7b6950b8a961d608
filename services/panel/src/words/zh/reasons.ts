import type { Words } from "../en/index.ts";

export const reasons: Words["reasons"] = {
  unchanged: "还没有任何更改。",
  choose: "请先选择。",
  awake: "请先停止服务器。",
  busy: (what) => `请等待此操作结束：${what}。`,
  running: "正在运行中。",
  retiring: "此服务器正在被放弃。请先保留它。",
  stopping: "服务器正在停止。",
  cooldown: "刚刚唤醒过。",
  damaged: "此备份已损坏。",
  noName: "请先填写名称。",
  notYours: "请先认领此服务器。",
  system: "此服务器属于平台。",
  otherBulk: "另一个批量操作仍在进行。",
  searching: "列表仍在读取。",
  aborted: "处理完正在请求的服务器后停止。",
  stale: "作者已发来另一个文件。请先查看它。",
  notReviewable: "还没有可批准的完整文件。",
  noPage: "列表到此为止。",
  expired: "此请求已过期。",
};
