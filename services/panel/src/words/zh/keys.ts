import type { Words } from "../en/index.ts";

export const keys: Words["keys"] = {
  open: "前往…",
  search: "搜索页面和服务器",
  none: "没有找到。",
  groups: { server: "此服务器", pages: "页面", servers: "服务器", help: "帮助" },
  title: "键盘快捷键",
  palette: "前往页面或服务器",
  find: "在此页面中搜索",
  help: "显示键盘快捷键",
  close: "关闭已打开的内容",
  send: "控制台中之前的命令",
  newest: "控制台的最新一行",
  save: "保存编辑器中的文件",
  single: "单键快捷键（/ 和 ?）",
  singleHelp: "如果您用语音操作设备，或经常误触按键，可以关闭。",
  names: { up: "↑", down: "↓", end: "End", escape: "Esc", control: "Ctrl" },
};
