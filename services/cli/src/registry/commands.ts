import { provenances, registries } from "@svc/proto";
import { openRegistry } from "@svc/registry";
import { withMesh } from "../backup/with-mesh.ts";
import { CommandError, type Outcome, planned, table } from "../output.ts";
import type { Common } from "../program.ts";
import { readStackFile } from "../stack-file.ts";

/** Prints the plan, and with `--yes` carries it out. */
export async function pruneRegistry({
  data,
  yes = false,
  dryRun = false,
}: Common & { yes?: boolean; dryRun?: boolean }): Promise<Outcome> {
  const isDone = yes && !dryRun;
  const run = await withMesh(data, (mesh) => mesh.call(registries.pruneRegistry, { dry_run: !isDone }));
  const text = describe(run);
  return isDone ? { json: run, text } : planned(run, text);
}

function describe({ manifests, kept, deleted, deleted_count, dry_run }: registries.PruneRun): string {
  const reasons = Object.entries(kept).map(([reason, count]) => `${reason} ${count}`);
  const counts = `${manifests} manifests, kept: ${reasons.join(", ") || "none"}`;
  if (deleted_count === 0) return `${counts}\nNothing to delete.`;
  const rows = deleted.map(({ ref, digest, pushed_at = "" }) => [ref, digest, pushed_at]);
  const more = deleted_count > deleted.length ? [`and ${deleted_count - deleted.length} more`] : [];
  const words = `${deleted_count} ${dry_run ? "to delete" : "deleted"}:`;
  return [counts, words, table([["IMAGE", "DIGEST", "PUSHED"], ...rows]), ...more].join("\n");
}

/** What the registry of this machine's stack has. */
export async function listRegistry({ data }: Common): Promise<Outcome> {
  const { registry: found } = readStackFile(data);
  if (!found) throw new CommandError("this stack runs no registry of images; see its log");
  const registry = openRegistry({ host: found.host, plainHttp: true });
  const repositories: { repository: string; tags: string[] }[] = [];
  for (const repository of await registry.listRepositories()) {
    const tags = await registry.listTags(repository);
    repositories.push({ repository, tags });
  }
  const rows = repositories.map(({ repository, tags }) => [repository, tags.join(" ")]);
  return {
    json: { host: found.host, repositories },
    text: table([["REPOSITORY", "TAGS"], ...rows]),
  };
}

/** The in-toto statement of what an image names now. */
export async function showProvenance({ data, image }: Common & { image: string }): Promise<Outcome> {
  const found = await withMesh(data, (mesh) => mesh.call(provenances.findProvenance, { image_ref: image }));
  const { buildDefinition, runDetails } = found.statement.predicate;
  const { metadata, builder, svc_scan } = runDetails;
  const { requested_by, image_ref } = buildDefinition.externalParameters;
  const programs = Object.entries(builder.version).map(([name, version]) => `${name} ${version}`);
  const scanner = svc_scan.scanner ? `${svc_scan.scanner.name} ${svc_scan.scanner.version}` : "a scanner";
  const rows = [
    ["image", image_ref],
    ["build", found.build_id],
    ["asked for by", requested_by],
    ["begun", metadata.startedOn],
    ["ended", metadata.finishedOn],
    ["built with", programs.join(", ")],
    ["scanned with", `${scanner}, database of ${svc_scan.database_at ?? "no date"}`],
    ...buildDefinition.resolvedDependencies.map(({ uri, digest }) => [
      "made of",
      `${uri}@sha256:${digest.sha256}`,
    ]),
    ["kept as", found.manifest_digest],
  ];
  return { json: found, text: table(rows) };
}
