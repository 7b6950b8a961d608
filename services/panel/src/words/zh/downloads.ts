import type { Words } from "../words.ts";

export const downloads: Words["downloads"] = {
  preparing: (file) => `正在准备 ${file}，下载会自动开始。`,
  failed: (file) => `无法准备 ${file}，请重试。`,
};
