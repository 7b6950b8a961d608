import { readdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parse } from "yaml";
import { code, heading, page, table } from "./page.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = join(root, "deploy/alerts");

type Rule = {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; reference: string };
};

/** Every Prometheus rule of `deploy/alerts`, by file. */
export function alertRulesPage() {
  const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));
  return page("alert-rules.md", [
    "# Alert rules",
    `The Prometheus rules of \`deploy/alerts\`. [Monitoring](../monitoring.md) says how to load them and where to start by
symptom. An alert fires when its expression has been true for the given time; \`critical\` ones concern players or the only
copy of something.`,
    ...files.flatMap((file) => {
      const { groups } = parse(readFileSync(join(folder, file), "utf8")) as { groups: { rules: Rule[] }[] };
      const rules = groups.flatMap((group) => group.rules);
      return [heading(basename(file, ".yaml"), `deploy/alerts/${file}`), ...rules.map(described)];
    }),
  ]);
}

function described({ alert, expr, labels, annotations, ...rule }: Rule): string {
  const { summary, description, reference } = annotations;
  const rows = [
    ["Fires", `after ${rule.for} of ${code(expr.replaceAll(/\s+/g, " ").trim())}, ${labels.severity}`],
    ["What to do", description],
    ["More", `[${reference.replace("docs/reference/", "")}](${reference.replace("docs/reference/", "")})`],
  ];
  const title = summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, "($1)");
  return [`### ${alert}`, title, table(["", ""], rows)].join("\n\n");
}
