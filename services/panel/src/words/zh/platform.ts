import type { Words } from "../words.ts";

export const images: Words["images"] = {
  title: "镜像",
  allowed: "允许的镜像",
  none: "还没有允许的镜像",
  noneHelp: "在您允许一个镜像之前，无法创建服务器。",
  add: "允许镜像",
  ref: "镜像",
  addAction: "允许此镜像",
  addHelp: "name:tag 允许一个标签，name:* 允许所有标签。",
  badRef: "请写成 name:tag，或用 name:* 表示所有标签。",
  added: (ref) => `已允许 ${ref}。`,
  sources: { built: "在此构建", external: "手动添加", recommended: "推荐" },
  disabled: "已关闭",
  notEnabled: "此条目已关闭：不允许任何镜像，但其所指的镜像仍会保留。",
  toBuild: "查看构建",
  toScan: "其最近一次扫描",
  flagged: "今天将不会被发布",
  flaggedTitle: "今天将不会被发布的镜像",
  flaggedHelp:
    "最近一次扫描发现了如今会被策略阻止的内容。正在运行它们的服务器继续运行；请更新镜像，或接受没有风险的发现。",
  flaggedCount: (n: number) => `阻止发布的发现：${n}`,
  flaggedServer: "此服务器的镜像今天将不会被发布：最近一次扫描发现了会被策略阻止的内容。",
  remove: "移除",
  removeOf: (ref) => `移除 ${ref}`,
  removeTitle: (ref) => `移除 ${ref}？`,
  removeHelp: "之后不能再用它创建服务器或更换镜像。已在使用它的服务器不受影响。",
  removeAction: "移除镜像",
};

export const platformSettings: Words["platformSettings"] = {
  title: "设置",
  signIn: "登录",
  password: "允许密码登录",
  passwordHelp: "密码在主机上设置，供紧急情况使用。关闭后，用密码登录的会话会立即失效。",
  saved: "设置已保存。",
};
