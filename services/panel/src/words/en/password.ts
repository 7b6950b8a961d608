/** Words of the door that is closed on most installations. */
export const password = {
  offer: "Use a password",
  help: "For emergencies: passwords are set on the host of this installation.",
  userName: "User name",
  password: "Password",
  wrong: "The user name or the password is wrong.",
};

export type PasswordWords = typeof password;
