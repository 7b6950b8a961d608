import type { Words } from "../en/index.ts";

export const leaving: Words["leaving"] = {
  title: "不保存就离开？",
  help: "您输入的内容尚未保存，离开后会丢失。",
  leave: "不保存并离开",
  signOutTitle: "不保存就退出登录？",
};
