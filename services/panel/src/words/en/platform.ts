export const images = {
  title: "Images",
  allowed: "Allowed images",
  none: "No image is allowed",
  noneHelp: "No server can be created until you allow one.",
  add: "Allow an image",
  ref: "Image",
  addAction: "Allow the image",
  addHelp: "name:tag allows one tag, name:* all of them.",
  badRef: "Write it as name:tag, or name:* for all tags.",
  added: (ref: string) => `${ref} is allowed.`,
  sources: { built: "Built here", external: "Added", recommended: "Recommended" },
  disabled: "Off",
  notEnabled: "This entry is switched off: it admits no image, and what it names is still kept.",
  toBuild: "Its build",
  toScan: "Its last scan",
  flagged: "Would not be published today",
  flaggedTitle: "Images that would not be published today",
  flaggedHelp:
    "Their last scan found what the policy blocks by now. Servers that run them go on; update them, or accept what is not a risk.",
  flaggedCount: (n: number) => `Findings that block: ${n}`,
  rebuildTitle: "Images whose base has moved",
  rebuildHelp:
    "They were built on an image that has a newer version. A rebuild is scanned and judged like any build.",
  movedBase: "Base:",
  rebuild: "Build again",
  rebuildOf: (ref: string) => `Build again: ${ref}`,
  rebuildRuns: "It is being built",
  olderTitle: "Servers on an older image",
  olderHelp:
    "Their tag names a newer image. Nothing is updated by itself; a server takes the newer one at its next start.",
  update: "Update",
  updateOf: (server: string) => `Update the image of ${server}`,
  updateTitle: (server: string) => `Update the image of ${server}?`,
  updateConfirm:
    "It uses the newest image of its tag from its next start on. Make a backup first: a newer version may change its world.",
  updateAction: "Update the image",
  updated: (server: string) => `${server} takes the newest image at its next start.`,
  outdatedUnknown: "Whether newer images exist is not known now.",
  flaggedServer:
    "The image of this server would not be published today: its last scan found what the policy blocks.",
  remove: "Remove",
  removeOf: (ref: string) => `Remove ${ref}`,
  removeTitle: (ref: string) => `Remove ${ref}?`,
  removeHelp: "No server can be created with it or changed to it. Servers that have it keep it.",
  removeAction: "Remove the image",
};

export const platformSettings = {
  title: "Settings",
  signIn: "Signing in",
  password: "Accept passwords",
  passwordHelp:
    "Passwords are set at the host, for emergencies. When you switch them off, sessions that began with one stop working at once.",
  saved: "The settings are saved.",
};
