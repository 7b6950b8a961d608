export const activity = {
  title: "Activity",
  none: "Nothing was done yet",
  noneHelp: "What you, other people and the platform do to this server is listed here.",
  older: "Show older entries",
  by: {
    you: "You",
    account: "A deleted account",
    staff: "An operator",
    player: "A player in the game",
    svc: "The platform",
  },
  access: {
    "access.ban.ban": "Player banned",
    "access.ban.pardon": "Ban lifted",
    "access.group.add": "Player added to a group",
    "access.group.remove": "Player removed from a group",
    "access.permission.set": "Permission set",
    "access.permission.unset": "Permission removed",
    "access.whitelist.add": "Player added to the whitelist",
    "access.whitelist.remove": "Player removed from the whitelist",
  },
};
