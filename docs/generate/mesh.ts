import { buckets, contracts, durables, events, type ServiceName, views } from "@svc/proto";
import { permissionsOf } from "../../proto/src/nats/permissions.ts";
import { code, heading, page, table } from "./page.ts";

const services: readonly ServiceName[] = [
  "gateway-internal",
  "gateway-external",
  "lifecycle",
  "storage",
  "builds",
  "identity",
  "ops-watchdog",
];

/** Events, views, buckets, consumers and the rights of every NATS user. */
export function meshPage() {
  return page("mesh-catalog.md", [
    "# Events, views, buckets and NATS permissions",
    "Derived from the contracts in `proto/`; [mesh.md](mesh.md) explains how they are used.",
    heading("events", "Events"),
    "The NATS subject is `svc.evt.` + the name + `.` + the key.",
    table(
      ["Event", "Meaning", "A body", "Heard as it happens by"],
      events.map(({ subject, summary, sample, listeners }) => [
        code(subject),
        summary,
        code(JSON.stringify(sample)),
        listeners.join(", "),
      ]),
    ),
    heading("consumers", "Durable consumers"),
    table(
      ["Consumer", "Service", "Stream", "Subjects"],
      durables.map(({ name, service, stream, subjects }) => [
        code(name),
        service,
        code(stream),
        subjects.map(code).join(", "),
      ]),
    ),
    heading("views", "Views"),
    "Key-value buckets that their owner writes and readers mirror in memory.",
    table(
      ["View", "Owner", "Readers", "What it holds"],
      views.map(({ name, owner, readers, summary }) => [code(name), owner, readers.join(", "), summary]),
    ),
    heading("buckets", "Buckets"),
    "Key-value buckets that only their owner reads and writes.",
    table(
      ["Bucket", "Owner", "Entries expire after", "What it holds"],
      buckets.map(({ name, owner, ttlMs, summary }) => [code(name), owner, `${ttlMs / 1_000} s`, summary]),
    ),
    heading("callers", "Who may call whom"),
    "Requests without HTTP, by caller. `operator` is a person on the host.",
    callersTable(),
    heading("permissions", "Permissions of each NATS user"),
    "What a user may publish and subscribe to. Requests that it may make are left out: they are above and in [operations.md](operations.md).",
    ...services.map(permissionsBlock),
  ]);
}

function callersTable(): string {
  const internal = contracts.filter(({ http }) => http === undefined);
  const callers = [...new Set(internal.flatMap((contract) => contract.callers))].sort();
  return table(
    ["Caller", "Requests"],
    callers.map((caller) => [
      caller,
      internal
        .filter((contract) => contract.callers.includes(caller))
        .map(({ subject }) => code(subject))
        .join(" "),
    ]),
  );
}

function permissionsBlock(service: ServiceName): string {
  const { publish, subscribe } = permissionsOf(service);
  const isOther = (subject: string) => !subject.startsWith("svc.rpc.");
  const list = (subjects: readonly string[]) => subjects.map((subject) => code(subject)).join(" ");
  return `**${service}**\n\n- publishes ${list(publish.filter(isOther))}\n- subscribes to ${list(subscribe)}`;
}
