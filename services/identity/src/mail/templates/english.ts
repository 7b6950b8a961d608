import type { CodePurpose } from "../../database.ts";
import type { Words } from "../message.ts";

const uses: Readonly<Record<CodePurpose, string>> = {
  sign_in: "Your code to sign in is:",
  op_login: "Your code to sign in to the operator console is:",
  onboard_email: "Your code to confirm this e-mail address is:",
  reauth: "Your code to confirm that it is you is:",
  migrate_confirm: "Your code to confirm that you hand your servers over to another account is:",
};

export const english: Words = {
  code: ({ code, validMinutes, purpose }) => ({
    subject: `${code} is your code`,
    paragraphs: [
      uses[purpose],
      { strong: code },
      `It is valid for ${validMinutes} minutes. Type it on the page where you asked for it, and tell it to nobody.`,
      ...(purpose === "op_login" ? ["The sign-in also has to be approved in the game."] : []),
      "If you did not ask for a code, ignore this mail: without the code nothing changes.",
    ],
  }),
  emailChanged: ({ newAddress }) => ({
    subject: "Your e-mail address was changed",
    paragraphs: [
      `The e-mail address of your account was changed to ${newAddress}, and all other devices were signed out.`,
      "If that was not you, tell the people who run this server at once.",
    ],
  }),
  emailRemoved: () => ({
    subject: "Your e-mail address was taken off your account",
    paragraphs: [
      "Another address was entered for your account, so this one no longer signs you in.",
      "If that was not you, tell the people who run this server at once.",
    ],
  }),
  codesLocked: ({ moment }) => ({
    subject: "Codes are locked for your account",
    paragraphs: [
      `Too many wrong codes were typed for your account. Codes by mail are locked until ${moment}.`,
      "Other ways to sign in still work. If that was not you, somebody may be guessing: nobody got in this way.",
    ],
  }),
};
