const count = (n: number, one: string, other: string) =>
  `${n} ${new Intl.PluralRules("en").select(n) === "one" ? one : other}`;
const servers = (n: number) => count(n, "server", "servers");

export const fleet = {
  filters: {
    all: "All",
    awake: "Awake",
    asleep: "Asleep",
    attention: "Need somebody",
    failed: "Failed",
    unowned: "Without an owner",
  },
  sorts: {
    name: "By name",
    phase: "By status",
    players: "By players",
    owner: "By owner",
    node: "By node",
  },
  onNode: (node: string) => `Servers on ${node}`,
  allNodes: "Show all nodes",
  select: (name: string) => `Select ${name}`,
  selectAll: (n: number) => (n === 1 ? "Select it" : `Select all ${n}`),
  selected: (n: number) => `${servers(n)} selected`,
  clear: "Clear the selection",
  bulk: "Selected servers",
  acts: { wake: "Wake", stop: "Stop", restart: "Restart", backup: "Back up" },
  tags: "Tags",
  tagsOf: (n: number) => `Tags of ${servers(n)}`,
  tagWhat: "What to do",
  tagActs: { tag: "Add a tag", untag: "Remove a tag" },
  tagActions: {
    tag: (n: number) => `Tag ${servers(n)}`,
    untag: (n: number) => `Remove it from ${servers(n)}`,
  },
  tagRuns: {
    tag: (tag: string, n: number) => `Adding ${tag} to ${servers(n)}`,
    untag: (tag: string, n: number) => `Removing ${tag} from ${servers(n)}`,
  },
  keepOpen:
    "This tab asks one server after the other. Where it is closed before the end, those that were not asked yet stay as they are.",
  actions: {
    wake: (n: number) => `Wake ${servers(n)}`,
    stop: (n: number) => `Stop ${servers(n)}`,
    restart: (n: number) => `Restart ${servers(n)}`,
    backup: (n: number) => `Back up ${servers(n)}`,
  },
  confirm: {
    wake: (n: number) => `Wake ${servers(n)}?`,
    stop: (n: number) => `Stop ${servers(n)}?`,
    restart: (n: number) => `Restart ${servers(n)}?`,
    backup: (n: number) => `Back up ${servers(n)}?`,
  },
  help: {
    wake: "As many start as the platform has room for; the others are refused and can be tried again.",
    stop: "Players who are on see a notice and are moved to the lobby.",
    restart: "Servers that do not run are refused. Players who are on see a notice, and have half a minute.",
    backup: "Only worlds of servers that are asleep are backed up; the others are refused.",
  },
  runs: {
    wake: (n: number) => `Waking ${servers(n)}`,
    stop: (n: number) => `Stopping ${servers(n)}`,
    restart: (n: number) => `Restarting ${servers(n)}`,
    backup: (n: number) => `Backing up ${servers(n)}`,
  },
  progress: (done: number, failed: number, left: number) =>
    [
      `${done} accepted`,
      ...(failed > 0 ? [`${failed} refused`] : []),
      ...(left > 0 ? [`${left} left`] : []),
    ].join(" · "),
  states: {
    waiting: "Waiting",
    running: "Asking",
    done: "Accepted",
    failed: "Refused",
    skipped: "Left out",
  },
  saveFilter: "Save this filter",
  saveFilterAction: "Save the filter",
  filterName: "Name of the filter",
  filterNameHelp:
    "It keeps the search, what is shown, the tag and the order, and finds what matches whenever it is used.",
  filterReplaced: "You have a filter of this name; it is replaced.",
  filterSaved: "The filter is saved.",
  filtersFull: (limit: number) => `You have ${limit} saved filters, which is the limit. Delete one first.`,
  openFilter: (name: string) => `Show what ${name} finds`,
  filterOpen: (name: string) => `${name}, shown now`,
  deleteFilter: "Delete this filter",
  deleteFilterOf: (name: string) => `Delete the filter ${name}?`,
  deleteFilterHelp: "The servers that it finds stay as they are.",
  filterDeleted: "The filter is deleted.",
  results: "Results",
  abort: "Stop here",
  retry: (n: number) => `Try ${n} again`,
  close: "Close the results",
};
