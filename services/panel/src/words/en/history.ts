const count = (n: number, one: string, other: string) =>
  `${n} ${new Intl.PluralRules("en").select(n) === "one" ? one : other}`;

export const history = {
  title: "History",
  range: "Time",
  ranges: { "24h": "Last 24 hours", "7d": "Last 7 days", "30d": "Last 30 days" },
  none: "Nothing was recorded in this time",
  noneHelp: "Players, memory and more are recorded once a minute while the server runs.",
  phases: "Asleep and awake",
  phasesChart: "When the server was asleep, starting or running",
  starts: (n: number, seconds: number) =>
    n === 1
      ? `1 start, which took ${count(seconds, "second", "seconds")}.`
      : `${n} starts; half of them took ${count(seconds, "second", "seconds")} or less.`,
  noStarts: "No start in this time.",
  players: "Players",
  mean: "On average",
  most: "At most",
  mostPlayers: "Most players",
  memory: "Memory",
  cpu: "Processor cores",
  tps: "Ticks a second",
  summary: (last: string, most: string) => `Last ${last}, at most ${most}`,
  meanSummary: (last: string, most: string) => `Newest average ${last}, at most ${most}`,
  chart: (title: string, summary: string) => `${title}: ${summary}`,
  noPlayers: "No players were counted: the server slept, or its player list could not be read.",
  notMeasured: "Nothing was measured: the server slept, or the cluster does not measure it.",
  noTps: "The server gives none. Paper, Spigot, Forge and Minecraft from 1.20.3 on do.",
  world: "Size of the world",
  noBackups: "It is measured by backups; there was none in this time.",
  noStorage: "It cannot be read right now.",
  table: "All values as a table",
  time: "From",
  platform: "The platform over time",
  awake: "Servers awake",
  wakes: "Wakes",
  startSeconds: "Seconds to start",
  p50: "Half of the starts",
  p95: "95 of 100 starts",
};
