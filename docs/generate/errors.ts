import { commonFaults, contracts, type FaultName, faults } from "@svc/proto";
import { code, heading, page, table } from "./page.ts";

/** Every fault by status: what callers see, and which requests declare it. */
export function errorsPage() {
  const names = Object.keys(faults) as FaultName[];
  const statuses = [...new Set(names.map((name) => faults[name].status))].sort((a, b) => a - b);
  return page("errors.md", [
    "# Error codes",
    `Every refusal is a *fault* of the table in \`proto/src/fault.ts\`. HTTP callers receive the envelope described in
[http.md](http.md#errors) with the wire code. *Retry* says whether the same request may succeed later without being
changed; event consumers turn it into a delayed redelivery. A handler may replace the message by a more precise one.`,
    `Any operation may answer these without declaring them: ${commonFaults.map(code).join(", ")}. A dash marks what no
contract declares: a gateway answers it before the request reaches its owner, or its operation is not built yet.`,
    ...statuses.flatMap((status) => [
      heading(`status-${status}`, String(status)),
      table(
        ["Code", "Message", "Retry", "Declared by"],
        names.filter((name) => faults[name].status === status).map(row),
      ),
    ]),
  ]);
}

function row(name: FaultName): string[] {
  const { code: wire, message, retry, retryAfterSeconds } = faults[name];
  const internal = wire === name ? "" : ` (fault ${code(name)})`;
  const wait = retryAfterSeconds === undefined ? "" : `, ${retryAfterSeconds} s unless stated`;
  return [`<a id="${name}"></a>${code(wire)}${internal}`, message, `${retry}${wait}`, declaredBy(name)];
}

const isCommon = (name: FaultName) => (commonFaults as readonly FaultName[]).includes(name);

const shown = 6;

function declaredBy(name: FaultName): string {
  const found = contracts.filter(({ faults: declared }) => declared.includes(name));
  if (found.length === 0) return isCommon(name) ? "any operation" : "–";
  const subjects = found.slice(0, shown).map(({ subject }) => code(subject));
  const more = found.length > shown ? ` and ${found.length - shown} more` : "";
  return `${subjects.join(", ")}${more}`;
}
