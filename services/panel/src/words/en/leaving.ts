export const leaving = {
  title: "Leave without saving?",
  help: "What you typed is not saved yet and is lost when you leave.",
  leave: "Leave without saving",
  signOutTitle: "Sign out without saving?",
};
