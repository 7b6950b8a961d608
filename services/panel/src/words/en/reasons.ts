/** Why something cannot be done now; they stand at its button. */
export const reasons = {
  unchanged: "Nothing is changed yet.",
  choose: "Choose something first.",
  awake: "Stop the server first.",
  busy: (what: string) => `Wait until this has ended: ${what}.`,
  running: "It is running now.",
  retiring: "The server is being given up. Keep it first.",
  stopping: "The server is stopping.",
  cooldown: "It was woken a moment ago.",
  damaged: "This backup is damaged.",
  system: "This server belongs to the platform.",
  otherBulk: "Another act on many servers is still running.",
  searching: "The list is still being read.",
  aborted: "It stops after the servers that are being asked now.",
  stale: "The author has sent another file. Look at it first.",
  notReviewable: "There is no whole file to approve yet.",
  expired: "This request has expired.",
};
