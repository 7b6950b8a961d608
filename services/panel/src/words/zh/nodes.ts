import type { Words } from "../en/index.ts";

export const nodes: Words["nodes"] = {
  title: "节点",
  name: "名称",
  status: "状态",
  ready: "就绪",
  notReady: "未就绪",
  use: "用途",
  approved: "可运行服务器",
  notApproved: "不运行服务器",
  machine: "机器",
  servers: "服务器",
  serverCount: (all, awake) => `${all} 台服务器，${awake} 台运行中`,
  moves: "世界迁移",
  noMoves: "没有正在迁移的世界。可在服务器的设置中开始迁移。",
  ended: "已结束的迁移",
};
