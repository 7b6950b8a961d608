import type { Words } from "../en/index.ts";

export const cliLogin: Words["cliLogin"] = {
  title: "登录命令行",
  help: "在您自己的机器上运行以下命令，然后输入它显示的代码：",
  code: "命令行显示的代码",
  find: "查看请求",
  asks: "有命令行请求以您的身份登录",
  warning:
    "仅当这是您刚刚亲自发起的登录时才继续。如果代码是别人发给您的，或有人要您输入它，请拒绝：否则对方会进入您的账号。",
  otherNetwork: "它与您的浏览器不在同一网络。只有当您正在使用别处的机器时，这才是正常的。",
  account: "您的账号",
  program: "程序",
  unknownProgram: "未知",
  address: "来源地址",
  sameNetwork: (address) => `${address}，与您同一网络`,
  since: "发起时间",
  expires: "代码剩余时间",
  approve: "允许命令行登录",
  refuse: "拒绝",
  approved: "命令行已用您的身份登录。可以关闭此页面。",
  approvedHelp: "它的会话与其他会话一起列在账号页面，可在那里结束。",
  refused: "已拒绝。命令行没有登录。",
  sessions: "您的会话",
  another: "输入另一个代码",
};
