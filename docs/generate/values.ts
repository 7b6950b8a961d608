import { valueRows } from "../../services/cli/src/manifests/values/document.ts";
import { code, page, table } from "./page.ts";

/** Every value of an installation on a cluster. */
export function valuesPage() {
  return page("values.md", [
    "# Values of an installation",
    "What can be chosen about an installation on a cluster ([install](../install.md)), in `values.yaml` of the Helm chart and with `svc manifests render`. A setting of a service that has no value of its own is a line of `settings` ([settings](settings.md)).",
    table(
      ["Value", "Default", "Meaning"],
      valueRows().map(({ path, fallback, meaning }) => [code(path), code(fallback), meaning]),
    ),
  ]);
}
