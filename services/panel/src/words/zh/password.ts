import type { PasswordWords } from "../en/password.ts";

export const password: PasswordWords = {
  offer: "使用密码",
  help: "仅供紧急情况：密码在此平台的主机上设置。",
  userName: "用户名",
  password: "密码",
  wrong: "用户名或密码错误。",
};
