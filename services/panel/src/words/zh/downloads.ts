import type { Words } from "../en/index.ts";

export const downloads: Words["downloads"] = {
  preparing: (file) => `正在准备 ${file}，下载会自动开始。`,
  failed: (file) => `无法准备 ${file}，请重试。`,
  waits: (file) => `浏览器还没有开始保存 ${file}，剩余等待时间：`,
  save: "立即保存",
  late: (file) => `没有及时保存 ${file}。`,
  again: "重新准备",
};
