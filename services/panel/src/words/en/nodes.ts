const count = (n: number, one: string, other: string) =>
  `${n} ${new Intl.PluralRules("en").select(n) === "one" ? one : other}`;

export const nodes = {
  title: "Nodes",
  name: "Name",
  status: "Status",
  ready: "Ready",
  notReady: "Not ready",
  use: "Use",
  approved: "Takes servers",
  notApproved: "Takes no servers",
  machine: "Machine",
  servers: "Servers",
  serverCount: (all: number, awake: number) => `${count(all, "server", "servers")}, ${awake} awake`,
  moves: "Moves of worlds",
  noMoves: "No world is being moved. A move begins in the settings of a server.",
  ended: "Ended moves",
};
