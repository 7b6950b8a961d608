import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Output } from "../../api/operations.ts";
import { useOperation } from "../../api/query.ts";
import { Failure } from "../../ui/failure.tsx";
import { Card, Muted } from "../../ui/layout.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Select } from "../../ui/select.tsx";
import { Table } from "../../ui/table.tsx";
import { formatDate } from "../../words/format.ts";
import { usePackWords } from "../../words/pack-words.ts";
import { visible } from "../../words/visible.ts";
import { useLanguage } from "../../words/words.ts";
import { type Query, textOf } from "../address.ts";
import { type Build, comparableWith, isBuildId, nameInRegistry, pageSize } from "./builds-view.ts";
import { compareFindings } from "./findings.ts";
import { Findings } from "./findings-table.tsx";
import { comparePackages, packagesOf } from "./sbom.ts";

type BuildScan = Output<"scans.readScan">;

/** How the scan differs from that of another build; the other one stands in the address. */
export function ScanComparison({ build, scan }: { build: Build; scan: BuildScan }) {
  const { scan: words, builds: buildWords } = usePackWords();
  const { language } = useLanguage();
  const navigate = useNavigate();
  const given = textOf((useSearch({ strict: false }) as Query)["with"]);
  const other = isBuildId(given) ? given : "";
  const { data } = useOperation("builds.listBuilds", { limit: pageSize, offset: 0 });
  const others = comparableWith(build, data?.builds ?? []);
  const isListed = other === "" || others.some(({ id }) => id === other);
  if (others.length === 0 && other === "") return null;
  const choose = (id: string) =>
    void navigate({ to: `/admin/builds/${build.id}`, search: id === "" ? {} : { with: id }, replace: true });
  return (
    <Card title={words.compare}>
      <Select
        label={words.compareWith}
        value={other}
        onChange={choose}
        options={[
          ["", words.compareNone],
          ...others.map(
            ({ id, image_ref, status, created_at }) =>
              [
                id,
                [
                  formatDate(Date.parse(created_at), language),
                  buildWords.statuses[status],
                  nameInRegistry(image_ref),
                ].join(" · "),
              ] as const,
          ),
          ...(isListed ? [] : [[other, other.slice(0, 8)] as const]),
        ]}
      />
      {other !== "" && <Differences key={other} other={other} build={build} scan={scan} />}
    </Card>
  );
}

type DifferencesProps = { other: string; build: Build; scan: BuildScan };

/** More would not be a list to read. */
const mostShown = 200;

/** Which of the two was first does not matter to the reader: the other one counts as the earlier. */
function Differences({ other, build, scan }: DifferencesProps) {
  const { scan: words } = usePackWords();
  const earlier = useOperation("scans.readScan", { id: other });
  if (!earlier.data)
    return earlier.error ? (
      <Failure error={earlier.error} retry={() => void earlier.refetch()} />
    ) : (
      <Loading />
    );
  const { summary } = scan;
  const { added, gone } = compareFindings(earlier.data.summary.findings, summary.findings);
  return (
    <>
      <h3>{words.addedFindings(added.length)}</h3>
      {added.length > 0 && (
        <Findings label={words.addedFindings(added.length)} findings={added} policy={summary.policy} />
      )}
      <h3>{words.goneFindings(gone.length)}</h3>
      {gone.length > 0 && (
        <Findings
          label={words.goneFindings(gone.length)}
          findings={gone}
          policy={earlier.data.summary.policy}
        />
      )}
      {scan.has_sbom && earlier.data.has_sbom ? (
        <PackageDifferences earlier={other} later={build.id} />
      ) : (
        <Muted>{words.noSbomToCompare}</Muted>
      )}
    </>
  );
}

function PackageDifferences({ earlier, later }: { earlier: string; later: string }) {
  const { scan: words } = usePackWords();
  const [before, after] = [
    useOperation("scans.downloadSbom", { id: earlier }, { isCostly: true }),
    useOperation("scans.downloadSbom", { id: later }, { isCostly: true }),
  ];
  const error = before.error ?? after.error;
  if (error)
    return (
      <Failure
        error={error}
        retry={() => {
          void before.refetch();
          void after.refetch();
        }}
      />
    );
  if (before.isPending || after.isPending) return <Loading />;
  const changes = comparePackages(packagesOf(before.data) ?? [], packagesOf(after.data) ?? []);
  return (
    <>
      <h3>{words.changedPackages(changes.length)}</h3>
      {changes.length > 0 && (
        <Table
          label={words.changedPackages(changes.length)}
          rows={changes.slice(0, mostShown)}
          keyOf={({ kind, name }) => JSON.stringify([kind, name])}
          columns={[
            { key: "name", title: words.package, cell: ({ name }) => <bdi>{visible(name)}</bdi> },
            { key: "change", title: words.changes.title, cell: ({ change }) => words.changes[change] },
            { key: "earlier", title: words.earlier, cell: (change) => visible(change.earlier || "–") },
            { key: "later", title: words.later, cell: (change) => visible(change.later || "–") },
          ]}
        />
      )}
      {changes.length > mostShown && <Muted>{words.packagesShown(mostShown, changes.length)}</Muted>}
    </>
  );
}
