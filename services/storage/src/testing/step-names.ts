// Names of the changes that storage makes for transfers, as the kill tables use them. Pure.

export type Effect = { on: string; method: string; args: readonly unknown[] };

type Value = Record<string, unknown> & { token?: { is_used: boolean } };
const changeOf = ({ args }: Effect) => (args[1] ?? {}) as Value;

const upload = (effect: Effect): string => {
  if (effect.method === "create") return "the session is written";
  if (effect.method === "delete") return "the session is removed";
  const { writer, token } = changeOf(effect);
  if (writer !== undefined) return "the writer's lease is taken";
  if (token?.is_used) return "the token is spent";
  return token ? "the token is written" : "the part is added";
};

const operation = (effect: Effect): string => {
  if (effect.method === "create") return "the operation is written";
  return changeOf(effect)["state"] === "running" ? "the operation has its Job" : "the operation is ended";
};

const download = (effect: Effect): string => {
  if (effect.method === "create") return "the ticket is written";
  if (effect.method === "delete") return "the ticket is dropped";
  return `the ticket is ${String(changeOf(effect)["state"])}`;
};

const cluster = ({ method, args }: Effect): string | undefined => {
  if (method === "remove") return "the Job is removed";
  if (method === "create")
    return (args[0] as { kind: string }).kind === "Job" ? "the Job is created" : undefined;
  const text = JSON.stringify(args[2]);
  if (text.includes('"svc.internal/maintenance":null')) return "the lock is released";
  return text.includes('"svc.internal/maintenance":"') ? "the lock is taken" : undefined;
};

const transactions: Record<string, string> = {
  "admit a file change": "the change is admitted",
  "end a file change": "the change is settled",
};

const volume: Record<string, string> = {
  writev: "bytes of a part are written",
  datasync: "a part is synced",
  rm: "the staged bytes are removed",
};

const places: Record<string, (effect: Effect) => string | undefined> = {
  "storage-uploads": upload,
  "storage-uploaders": () => "the session is counted",
  "storage-file-ops": operation,
  "storage-exports": download,
  "storage-export-starts": ({ args }) =>
    String(args[0]).includes("/") ? "the user's downloads are counted" : "all downloads are counted",
  kube: cluster,
  db: ({ args }) => transactions[String(args[0])] ?? "the row is written",
  volume: ({ method }) => volume[method],
};

/** Name of a change; undefined when it is not a step of a transfer. */
export function stepOf(effect: Effect): string | undefined {
  return places[effect.on]?.(effect);
}
