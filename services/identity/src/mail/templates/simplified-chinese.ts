import type { CodePurpose } from "../../database.ts";
import type { Words } from "../message.ts";

const uses: Readonly<Record<CodePurpose, string>> = {
  sign_in: "您的登录验证码是：",
  op_login: "您登录管理控制台的验证码是：",
  onboard_email: "您验证此邮箱地址的验证码是：",
  reauth: "您确认本人身份的验证码是：",
  migrate_confirm: "您确认将服务器移交给另一个账户的验证码是：",
};

export const simplifiedChinese: Words = {
  code: ({ code, validMinutes, purpose }) => ({
    subject: `${code} 是您的验证码`,
    paragraphs: [
      uses[purpose],
      { strong: code },
      `验证码在 ${validMinutes} 分钟内有效。请在您申请验证码的页面输入，切勿告诉任何人。`,
      ...(purpose === "op_login" ? ["此次登录还需要在游戏中获得批准。"] : []),
      "如果您没有申请验证码，请忽略此邮件：没有验证码，任何内容都不会更改。",
    ],
  }),
  emailChanged: ({ newAddress }) => ({
    subject: "您的邮箱地址已更改",
    paragraphs: [
      `您账户的邮箱地址已更改为 ${newAddress}，其他所有设备均已退出登录。`,
      "如果这不是您本人的操作，请立即联系服务器管理人员。",
    ],
  }),
  emailRemoved: () => ({
    subject: "您的邮箱地址已从账户中移除",
    paragraphs: [
      "您的账户登记了另一个邮箱地址，因此您无法再用此邮箱登录。",
      "如果这不是您本人的操作，请立即联系服务器管理人员。",
    ],
  }),
  codesLocked: ({ moment }) => ({
    subject: "您的账户已停用邮件验证码",
    paragraphs: [
      `您的账户输错验证码的次数过多。邮件验证码已停用，直至 ${moment}。`,
      "其他登录方式仍然可用。如果这不是您本人的操作，可能有人在猜测验证码：没有人因此登录成功。",
    ],
  }),
};
