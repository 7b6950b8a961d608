import { type AnyContract, contracts, operations, pathsOf, processOperations } from "@svc/proto";
import { code, heading, page, table } from "./page.ts";

/** Every HTTP operation and every request between services, by owner and noun. */
export function operationsPage() {
  const nouns = [...new Set(contracts.map(nounOf))].sort();
  return page("operations.md", [
    "# Operations and requests",
    `${operations.length} operations have an HTTP binding, and both gateways answer ${processOperations
      .map(({ http }) => code(`${http.method} ${http.path}`))
      .join(" and ")} by themselves. Request and response bodies are in
[openapi.json](../openapi.json). A request without HTTP is made between services or by the command line on the host.
Columns: *setup*: allowed to an account in first-run setup; *limited*: counts against the sign-in budget of an address.`,
    ...nouns.flatMap((noun) => [heading(noun.replace(".", "-"), noun), tableOf(noun)]),
  ]);
}

const nounOf = ({ subject }: AnyContract) => subject.split(".").slice(0, 2).join(".");

function tableOf(noun: string): string {
  const rows = contracts.filter((contract) => nounOf(contract) === noun).map(row);
  return table(["Request", "HTTP", "Who", "What it does", "Faults", "Section"], rows);
}

function row(contract: AnyContract): string[] {
  const { subject, summary, faults, spec } = contract;
  return [
    code(subject),
    bindingOf(contract),
    whoOf(contract),
    summary,
    faults.map(code).join(" "),
    link(spec),
  ];
}

function bindingOf({ http }: AnyContract): string {
  if (!http) return "";
  const success = `→ ${http.status}${http.nullAs === undefined ? "" : `/${http.nullAs}`}`;
  const kind = http.kind === "json" ? "" : `, ${http.kind}`;
  return `${pathsOf(http)
    .map((path) => code(`${http.method} ${path}`))
    .join(", ")} ${success}${kind}`;
}

function whoOf({ http, callers }: AnyContract): string {
  if (!http) return callers.join(", ");
  const notes = [
    ...(http.callers.length > 0 ? [http.callers.join(", ")] : []),
    ...(http.setup ? ["setup"] : []),
    ...(http.rateLimited ? ["limited"] : []),
  ];
  return `${http.faces.join("+")}, ${http.tier}${notes.length > 0 ? ` (${notes.join("; ")})` : ""}`;
}

/** Links of sections: `docs/reference/restore.md#swap` is beside this page. */
function link(spec: string): string {
  return spec
    .split(", ")
    .map((citation) => {
      const [, file, anchor] = /^docs\/reference\/([a-z-]+\.md)#([a-z0-9_-]+)$/.exec(citation) ?? [];
      return file === undefined ? citation : `[${file.slice(0, -3)}](${file}#${anchor})`;
    })
    .join(", ");
}
