// Why a server crashed, in the words of a mail (docs/reference/crashes.md#causes).

import type { crashes } from "@svc/proto";
import { type Language, type Sentence, say } from "@svc/proto/language";

const causes: Readonly<Record<crashes.CrashCause, Sentence>> = {
  memory_limit: { en: "it needed more memory than it may have", zh: "所需内存超过上限" },
  java_heap: { en: "Java ran out of memory", zh: "Java 内存不足" },
  eula: { en: "nobody has agreed to the game's EULA", zh: "还没有人同意游戏的 EULA" },
  wrong_java: { en: "it needs another version of Java", zh: "需要其他版本的 Java" },
  port_in_use: { en: "it could not open its port", zh: "无法打开端口" },
  world_in_use: { en: "its world is in use by another process", zh: "世界正被另一个进程使用" },
  disk_full: { en: "its disk is full", zh: "磁盘已满" },
  corrupt_world: { en: "a part of its world is damaged", zh: "世界的一部分已损坏" },
  newer_world: {
    en: "its world was saved by a newer version of the game",
    zh: "世界由更新版本的游戏保存",
  },
  missing_dependency: { en: "a mod or plugin lacks another one", zh: "模组或插件缺少前置" },
  mod_conflict: { en: "mods or plugins do not go together", zh: "模组或插件之间有冲突" },
  tick_stalled: { en: "it stood still and ended itself", zh: "服务器卡住后自行退出" },
  evicted: { en: "its machine ran short of memory or disk", zh: "所在机器的内存或磁盘不足" },
  unresponsive: {
    en: "it was ended from outside, mostly for taking no more connections",
    zh: "被外部结束，通常是因为不再接受连接",
  },
  hung: { en: "it no longer answers", zh: "不再响应" },
  unknown: { en: "not known", zh: "原因不明" },
};

/** A cause that this build does not know is not known. */
export function causeOf(cause: string | undefined, language: Language): string {
  const known = cause !== undefined && Object.hasOwn(causes, cause) ? cause : "unknown";
  return say(causes[known as crashes.CrashCause], language);
}
