import type { Words } from "../en/index.ts";

export const crashes: Words["crashes"] = {
  title: "崩溃记录",
  crashed: "服务器崩溃：",
  all: "全部崩溃记录",
  lines: "日志的最后几行",
  noLines: "日志在读取之前已经消失。",
  ran: (time) => `已运行 ${time}`,
  failedStart: (time) => `启动 ${time} 后退出`,
  exitCode: (code) => `退出码 ${code}`,
  memory: (used) => `已用内存 ${used}`,
  memoryOf: (used, limit) => `已用内存 ${used}，上限 ${limit}`,
  ticks: (tps) => `此前每秒 ${tps} 刻`,
  behind: (time) => `最多落后 ${time}`,
  watchdog: "看门狗发现有一刻未能结束",
  safeStart: "安全启动",
  safeStartHelp:
    "启动服务器时不带上次正常启动以来有改动的插件、模组和配置。不会删除任何内容：它们会被移到一旁，您可以随时放回。",
  safeStartStopped: "服务器停止后才能查看其文件。",
  safeStartAction: "移开这些文件并启动",
  noGoodStart: "没有玩家可以加入的启动记录，因此无法得知此后有哪些改动。",
  nothingChanged: "上次正常启动以来没有插件、模组或配置改动，启动时间：",
  changedSince: "上次正常启动以来的改动，启动时间：",
  tooManyChanged: "改动的文件过多，安全启动无法全部移开；请改为恢复备份。",
  asideDone: (n) => `已移开 ${n} 个文件。`,
  setAsideTitle: "安全启动移开的文件",
  setAsideAt: "移开时间：",
  putBack: "放回",
  putBackDone: (n) => `已放回 ${n} 个文件。`,
  causes: {
    memory_limit: {
      title: "所需内存超过上限",
      help: "请在设置中增加内存，或移除一些插件或模组。除了堆内存，Java 还需要额外的内存。",
    },
    java_heap: {
      title: "Java 内存不足",
      help: "请在设置中增加内存，降低视距，或移除一些插件或模组。",
    },
    eula: {
      title: "还没有人同意游戏的 EULA",
      help: "请在 aka.ms/MinecraftEULA 阅读协议，在文件管理中把 eula.txt 改为 eula=true，然后重新启动。",
    },
    wrong_java: {
      title: "需要其他版本的 Java",
      help: "请选择带有所需 Java 版本的镜像；刚添加的插件或模组也可能太新。",
    },
    port_in_use: {
      title: "无法打开端口",
      help: "请在 server.properties 中将 server-ip 留空、server-port 设为 25565，并检查是否有插件占用同一端口。",
    },
    world_in_use: {
      title: "世界正被另一个进程使用",
      help: "请等一分钟再启动。如果仍然失败，需要管理员查找另一个进程。",
    },
    disk_full: {
      title: "磁盘已满",
      help: "请在文件管理中删除旧日志、崩溃报告和插件的备份；管理员可以换更大的磁盘。",
    },
    corrupt_world: {
      title: "世界的一部分已损坏",
      help: "请恢复损坏之前最新的备份。日志的最后几行写有文件名。",
    },
    newer_world: {
      title: "世界由更新版本的游戏保存",
      help: "请换回较新的镜像，或恢复更新之前的备份。世界无法降级。",
    },
    missing_dependency: {
      title: "模组或插件缺少前置",
      help: "请按日志最后几行的要求安装对应版本的前置，或移除需要它的模组或插件。",
    },
    mod_conflict: {
      title: "模组或插件之间有冲突",
      help: "请移除或更新最后添加或改动的那个。日志的最后几行写有名称。",
    },
    tick_stalled: {
      title: "服务器卡住后自行退出",
      help: "有一刻的用时超过了 max-tick-time。之前的日志显示它在忙什么，常见原因是某个插件。",
    },
    evicted: {
      title: "所在机器的内存或磁盘不足",
      help: "服务器本身没有问题，需要管理员在机器上腾出空间。",
    },
    unresponsive: {
      title: "被外部结束",
      help: "通常是因为两分钟内不接受连接。日志的最后几行可能显示它在忙什么。常见原因是某个插件阻塞，或处理器时间不足。",
    },
    hung: {
      title: "不再响应",
      help: "进程仍在运行。日志的最后几行可能显示它在忙什么；设置决定此时是否重启。",
    },
    unknown: {
      title: "原因不明",
      help: "日志的最后几行最能说明问题。如果最近添加或改动过模组或插件，请先移除它们。",
    },
  },
};
