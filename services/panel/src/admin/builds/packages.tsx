import { useMemo, useState } from "react";
import { useOperation } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Field } from "../../ui/field.tsx";
import { Card, Muted } from "../../ui/layout.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Table } from "../../ui/table.tsx";
import { usePackWords } from "../../words/pack-words.ts";
import { visible } from "../../words/visible.ts";
import { packagesOf, searchPackages } from "./sbom.ts";

/** More would not be a list to read; a search finds the others. */
const mostShown = 100;

/** The packages of the image, out of its bill of materials; it is read once somebody wants to see it. */
export function Packages({ id }: { id: string }) {
  const { scan: words } = usePackWords();
  const [isOpen, setOpen] = useState(false);
  const [search, setSearch] = useState("");
  const sbom = useOperation("scans.downloadSbom", { id }, { enabled: isOpen, isCostly: true });
  const packages = useMemo(() => packagesOf(sbom.data), [sbom.data]);
  const found = useMemo(() => searchPackages(packages ?? [], search), [packages, search]);
  if (!isOpen)
    return (
      <Card
        title={words.packages}
        actions={<Button onPress={() => setOpen(true)}>{words.showPackages}</Button>}
      >
        <Muted>{words.packagesHelp}</Muted>
      </Card>
    );
  return (
    <Card title={words.packages}>
      {sbom.error && <Failure error={sbom.error} retry={() => void sbom.refetch()} />}
      {sbom.isPending && <Loading />}
      {sbom.data !== undefined && packages === undefined && <Muted>{words.badSbom}</Muted>}
      {packages && (
        <>
          <Field
            label={words.searchPackages}
            name="search-packages"
            type="search"
            inputMode="search"
            value={search}
            onChange={setSearch}
            autoFocus
          />
          <Table
            label={words.packages}
            rows={found.slice(0, mostShown)}
            keyOf={({ kind, name, version }) => JSON.stringify([kind, name, version])}
            columns={[
              { key: "name", title: words.package, cell: ({ name }) => <bdi>{visible(name)}</bdi> },
              { key: "version", title: words.installed, cell: ({ version }) => visible(version) },
              { key: "kind", title: words.kind, cell: ({ kind }) => visible(kind) },
              { key: "licenses", title: words.licenses, cell: ({ licenses }) => visible(licenses) },
            ]}
          />
          <Muted>
            <span role="status">
              {words.packagesShown(Math.min(found.length, mostShown), packages.length)}
            </span>
          </Muted>
        </>
      )}
    </Card>
  );
}
