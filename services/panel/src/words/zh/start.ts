import type { Words } from "../en/index.ts";

export const start: Words["start"] = {
  title: "正在启动",
  bar: "启动进度",
  list: "启动步骤",
  steps: {
    node: "分配机器",
    volume: "挂载世界",
    image: "下载服务端镜像",
    process: "启动游戏服务端",
    join: "开放给玩家",
  },
  states: { done: "完成", running: "进行中", failed: "受阻", waiting: "等待中" },
  about: (time) => `大约还需 ${time}`,
  soon: "马上就好",
  late: "比平时慢一些",
  unknown: "首次启动，暂时无法预计时间",
  seconds: (n) => `${n} 秒`,
  minutes: (n) => `${n} 分钟`,
  attempt: (n) => `第 ${n} 次自动重启`,
  detail: "集群原文：",
  problems: {
    MaintenanceInProgress: {
      title: "世界正在使用中",
      help: "正在备份、恢复或修改世界文件，结束后服务器会自动启动。",
    },
    NodeUnavailable: {
      title: "所在机器无法连接",
      help: "存放世界的机器无法连接。管理员可以恢复该机器或迁移世界。",
    },
    RconSecretUnavailable: {
      title: "无法读取控制台密码",
      help: "需要管理员修复或删除该 Secret，之后会重新生成。",
    },
    ForwardingSecretUnavailable: {
      title: "无法读取平台的转发密钥",
      help: "为了安全，服务器会一直等待，需要管理员修复密钥。",
    },
    StartupTimeout: {
      title: "启动时间过长",
      help: "控制台显示了启动到哪一步。常见原因是插件过多或内存不足。",
    },
    ReadinessTimeout: {
      title: "控制台没有响应",
      help: "游戏服务端已运行，但无法控制。请检查 server.properties 中的 enable-rcon 和 RCON 端口。",
    },
    InvalidSpec: {
      title: "设置有误",
      help: "请在设置中更正，之后会自动启动。",
    },
    PodUnschedulable: {
      title: "没有机器能容纳它",
      help: "请停止其他服务器，或减少它的内存；有空位后会自动启动。",
    },
    ImagePullFailed: {
      title: "无法下载服务端镜像",
      help: "镜像不存在，或镜像仓库拒绝访问。请在设置中换一个镜像；在此之前会不断重试。",
    },
    ContainerFailed: {
      title: "无法完成准备",
      help: "缺少启动所需的内容，需要管理员处理。",
    },
    ContainerCrashed: {
      title: "启动过程中退出了",
      help: "控制台的最后几行说明了原因。系统会自动重试。",
    },
    ContainerOutOfMemory: {
      title: "内存不足",
      help: "请在设置中增加内存，或减少插件。",
    },
  },
  stopsIn: (clock) => `将在 ${clock} 后停止`,
  stopsNow: "正在停止",
  stopHelp: "所有在线玩家都已收到通知。世界会先保存，不会丢失任何内容。",
  playOn: "让他们继续玩",
  goesOn: (name) => `${name} 会继续运行，玩家已收到通知。`,
  on: (names) => `在线：${names}`,
};
