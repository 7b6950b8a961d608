export const crashes = {
  title: "Crashes",
  crashed: "Crash:",
  all: "All crashes",
  lines: "Last lines of its log",
  noLines: "Its log was gone before it could be read.",
  ran: (time: string) => `had run for ${time}`,
  failedStart: (time: string) => `ended ${time} into its start`,
  exitCode: (code: number) => `exit code ${code}`,
  memory: (used: string) => `${used} of memory in use`,
  memoryOf: (used: string, limit: string) => `${used} of ${limit} of memory in use`,
  ticks: (tps: number) => `${tps} ticks a second before`,
  behind: (time: string) => `up to ${time} behind`,
  watchdog: "its watchdog saw a tick that did not end",
  safeStart: "Safe start",
  safeStartHelp:
    "Starts the server without the plugins, mods and configuration that changed since its last good start. Nothing is deleted: they are set aside, and you can put them back.",
  safeStartStopped: "Its files can be looked at once the server is stopped.",
  safeStartAction: "Set these aside and start",
  noGoodStart: "No start is known after which players could join, so nothing says what changed since.",
  nothingChanged: "No plugin, mod or configuration has changed since its last good start:",
  changedSince: "Changed since its last good start:",
  tooManyChanged: "There is more than a safe start can set aside; restore a backup instead.",
  asideDone: (n: number) => (n === 1 ? "1 file is set aside." : `${n} files are set aside.`),
  setAsideTitle: "Set aside by safe starts",
  setAsideAt: "Set aside",
  putBack: "Put back",
  putBackDone: (n: number) =>
    n === 1 ? "1 file is back in its place." : `${n} files are back in their places.`,
  causes: {
    memory_limit: {
      title: "It needed more memory than it may have",
      help: "Give it more memory in its settings, or take plugins or mods out. Java needs room beside its heap.",
    },
    java_heap: {
      title: "Java ran out of memory",
      help: "Give it more memory in its settings, lower its view distance, or take plugins or mods out.",
    },
    eula: {
      title: "Nobody has agreed to the game's EULA",
      help: "Read it at aka.ms/MinecraftEULA, write eula=true into eula.txt with the file manager, and start it again.",
    },
    wrong_java: {
      title: "It needs another version of Java",
      help: "Choose an image with the Java that this version of the game or of the plugin needs; what was just added may be too new.",
    },
    port_in_use: {
      title: "It could not open its port",
      help: "Leave server-ip empty and server-port at 25565 in server.properties, and look for a plugin that uses the same port.",
    },
    world_in_use: {
      title: "Its world is in use by another process",
      help: "Wait a minute and start it again. If that does not help, an operator has to look for a second process.",
    },
    disk_full: {
      title: "Its disk is full",
      help: "Delete old logs, crash reports and backups of plugins with the file manager; an operator can give it a larger disk.",
    },
    corrupt_world: {
      title: "A part of its world is damaged",
      help: "Restore the newest backup from before it. The last lines name the file.",
    },
    newer_world: {
      title: "Its world was saved by a newer version of the game",
      help: "Go back to the newer image, or restore a backup from before the update. Worlds cannot be made older.",
    },
    missing_dependency: {
      title: "A mod or plugin lacks another one",
      help: "Install what the last lines ask for, in the version that they name, or remove the one that asks.",
    },
    mod_conflict: {
      title: "Mods or plugins do not go together",
      help: "Remove or update the one that was added or changed last. The last lines name them.",
    },
    tick_stalled: {
      title: "It stood still and ended itself",
      help: "One tick took longer than max-tick-time allows. The lines before show what it was busy with, often a plugin.",
    },
    evicted: {
      title: "Its machine ran short of memory or disk",
      help: "Nothing is wrong with the server. An operator has to make room on the machine.",
    },
    unresponsive: {
      title: "It was ended from outside",
      help: "Mostly because it took no connections for two minutes. The last lines may say what it was busy with. A plugin that blocks everything and too little processor time are the usual reasons.",
    },
    hung: {
      title: "It no longer answered",
      help: "Its process still ran. The last lines may say what it was busy with; the settings say whether it is restarted then.",
    },
    unknown: {
      title: "The reason is not known",
      help: "The last lines say most. If mods or plugins were added or changed lately, take those out first.",
    },
  },
};
