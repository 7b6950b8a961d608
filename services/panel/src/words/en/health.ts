// Words of the pages about the platform itself; they are loaded with the first of them.

const count = (n: number, one: string, other: string) =>
  `${n} ${new Intl.PluralRules("en").select(n) === "one" ? one : other}`;

const updates = {
  title: "Updates",
  none: "There is no report yet.",
  stale: (hours: number) => `The newest report is older than ${count(hours, "hour", "hours")}.`,
  makeOne:
    "ops-watchdog makes one a day; when it does not, its log says why. To make one now, run on the host:",
  command: "the command",
  components: "Components",
  available: (n: number) => `${count(n, "update is", "updates are")} available`,
  noneAvailable: "No update is available",
  checked: "Checked",
  byVersion: (version: string) => `by svc ${version}`,
  notApplied: "Nothing is applied by itself.",
  component: "Component",
  state: "State",
  installed: "Installed",
  newest: "Newest",
  note: "Note",
  apply: "Steps",
  names: {
    platform: "svc",
    proxy: "Proxy",
    postgresql: "PostgreSQL",
    nats: "NATS",
    node: "Node.js",
    kubernetes: "Kubernetes",
  },
  states: {
    current: "Up to date",
    available: "Update available",
    unknown: "Not known",
    unreadable: "Cannot be read",
    pinned: "Pinned",
  },
  noFeed: (setting: string) => `No list of versions is set: ${setting}.`,
  pinned: "A setting pins this version.",
  window: "Maintenance window",
  windowHelp: "When updates may be applied. It is advice to people: nothing starts or stops by itself.",
  noWindow: "No window is set.",
  windowStates: { planned: "Planned", open: "Open now", over: "Over" },
  from: "Begins",
  to: "Ends",
  zone: (zone: string) => `In the time of this device, ${zone}.`,
  set: "Set the window",
  clear: "Clear the window",
  saved: "The window is set.",
  cleared: "The window is cleared.",
  problems: { missing: "Choose a day and a time.", "not-after": "The end must be after the beginning." },
  skipped: (wanted: string, shown: string) =>
    `The clock goes forward and skips ${wanted}; it counts as ${shown}.`,
  doubled: (time: string) => `The clock goes back and shows ${time} twice; the first time counts.`,
};

const bundles = {
  title: "Database backups",
  command: "the command",
  problems: {
    "none-yet": (_hours: number) => "There is no database backup yet.",
    stale: (hours: number) => `There was no daily backup for more than ${count(hours, "hour", "hours")}.`,
    "rehearsal-failed": (_hours: number) => "The newest backup could not be restored as a rehearsal.",
    damaged: (_hours: number) => "A backup is damaged.",
    "without-servers": (_hours: number) => "The newest backup lacks the server objects of the cluster.",
  },
  help: {
    "none-yet":
      "The first one is taken five minutes after the first start. To take one now, run on the host:",
    stale: "The log of ops-watchdog says why. To take one now, run on the host:",
    "rehearsal-failed": "Do not count on it in a disaster. To see why it fails, run on the host:",
    damaged:
      "Put a whole copy in its place, or delete it once newer ones exist. To check all, run on the host:",
    "without-servers": "The cluster did not answer when it was taken. To take another one, run on the host:",
  },
  newest: "Newest",
  newestDaily: "Newest daily one",
  rehearsal: "Rehearsal",
  rehearsed: "Restored",
  notRestorable: "Failed",
  rehearsalTook: (rows: string, clock: string) => `${rows} rows in ${clock}`,
  notRehearsed: "Not yet. Every week the newest backup is restored into a scratch database.",
  list: "Backups",
  taken: "Taken",
  why: "Why",
  size: "Size",
  state: "State",
  name: "Name",
  labels: {
    daily: "Daily",
    "pre-migrate": "Before a migration",
    "pre-restore": "Before a restore",
    offsite: "With off-site copies",
    manual: "By hand",
  },
  whole: "Whole",
  damaged: "Damaged",
  showAll: (n: number) => `Show all ${n}`,
  restoreHelp: "A backup is restored on the host, with svc db restore and its name.",
};

const offsite = {
  title: "Off-site copies",
  command: "the command",
  problems: {
    "not-configured": (_hours: number) => "There are no off-site copies.",
    "wrong-key": (_hours: number) => "The bucket is sealed with another key. Nothing is copied.",
    standby: (_hours: number) => "Another installation writes to this bucket. Nothing is copied from here.",
    never: (_hours: number) => "No copying was completed yet.",
    stale: (hours: number) => `No copying was completed for ${count(hours, "hour", "hours")}.`,
    failed: (_hours: number) => "The newest copying failed.",
    incomplete: (_hours: number) => "Some objects could not be copied.",
  },
  help: {
    "not-configured":
      "When this machine is lost, worlds and accounts are lost with it. Set a bucket in [offsite], and make a key on the host:",
    "wrong-key":
      "Give ops-watchdog the key that the recovery sheet names. To see which one it has, run on the host:",
    standby: "When the other one is gone for good, take over on the host. To see who writes, run there:",
    never: "The first one begins by itself and may take hours. To copy now, run on the host:",
    stale: "The log of ops-watchdog says why. To copy now, run on the host:",
    failed: "It is tried again by itself. To try now, run on the host:",
    incomplete: "They are tried again by themselves. To try now, run on the host:",
  },
  states: {
    running: "Copying",
    completed: "Completed",
    incomplete: "Incomplete",
    failed: "Failed",
    standby: "Standby",
    wrong_key: "Wrong key",
  },
  kinds: { db: "Database backups", worlds: "Worlds", images: "Images", uploads: "Packs" },
  sent: (n: number, size: string) => `${count(n, "object", "objects")} sent, ${size}`,
  left: (clock: string) => `about ${clock} left`,
  failures: (n: number) => `${count(n, "object", "objects")} failed`,
  copies: (whole: number, wanted: number, size: string) =>
    `${whole === wanted ? whole : `${whole} of ${wanted}`} whole, ${size}`,
  missing: (n: number) => `${n} missing`,
  notWhole: (n: number) => `${n} not whole`,
  lastCompleted: "Last completed",
  never: "Never",
  bucket: "Bucket",
  writer: "Written by",
  thisInstallation: "This installation",
  keyId: "Key id",
  protection: "Deleted objects",
  versioning: {
    enabled: "can be recovered: the bucket keeps versions",
    suspended: "cannot be recovered: versions are suspended",
    off: "cannot be recovered: the bucket keeps no versions",
    unknown: "unknown: the account may not ask",
  },
};

const platformHealth = { title: "Health" };

export const health = { platformHealth, updates, bundles, offsite };
