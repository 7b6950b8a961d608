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
  outdated:
    "Takes no servers: its labels are of an earlier release. On a computer that reaches the cluster, run:",
  relabelCommand: "svc node relabel",
  machine: "Machine",
  servers: "Servers",
  serverCount: (all: number, awake: number) => `${count(all, "server", "servers")}, ${awake} awake`,
  memory: "Memory of its servers",
  memoryOf: (assigned: string, all: string) => `${assigned} of ${all}`,
  actions: "Actions",
  cordon: "Keep free",
  cordonOf: (node: string) => `Keep free: ${node}`,
  cordonTitle: (node: string) => `Keep ${node} free?`,
  cordonHelp:
    "New and moved servers go to other nodes. What runs here goes on, but a server that sleeps here cannot wake until its world is moved, or the node takes servers again.",
  drainHelp: "To move all of them, one after another:",
  drainCommand: (node: string) => `svc node drain ${node}`,
  cordoned: (node: string) => `${node} takes no new servers.`,
  uncordon: "Use again",
  uncordonOf: (node: string) => `Use again: ${node}`,
  uncordoned: (node: string) => `${node} takes servers again.`,
  moves: "Moves of worlds",
  noMoves: "No world is being moved. A move begins in the settings of a server.",
  ended: "Ended moves",
};
