import { registries } from "@svc/proto";
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
