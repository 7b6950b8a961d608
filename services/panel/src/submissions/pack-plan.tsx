import { useState } from "react";
import type { Output } from "../api/operations.ts";
import { useOperation } from "../api/query.ts";
import { Copied } from "../ui/copied.tsx";
import { Disclosure, Preformatted } from "../ui/disclosure.tsx";
import { Failure } from "../ui/failure.tsx";
import { Chips, Facts, Muted, Stack } from "../ui/layout.tsx";
import { Loading } from "../ui/loading.tsx";
import { Pager } from "../ui/pager.tsx";
import { Table } from "../ui/table.tsx";
import { formatBytes } from "../words/format.ts";
import { usePackWords } from "../words/pack-words.ts";
import { visible } from "../words/visible.ts";
import { useLanguage } from "../words/words.ts";

type Pack = Output<"submissions.readOwnPack">;
type Download = Pack["downloads"][number];

const pageSize = 50;

type PackPlanProps = {
  id: string;
  /** Who asks: its author finds only their own. */
  operation: "submissions.readPack" | "submissions.readOwnPack";
};

/** What a pack without a Dockerfile became: the Dockerfile, and every file that its build downloads. */
export function PackPlan({ id, operation }: PackPlanProps) {
  const { packPlan } = usePackWords();
  const { language } = useLanguage();
  const [page, setPage] = useState(0);
  const input = { id, limit: pageSize, offset: page * pageSize };
  const { data, error, refetch } = useOperation(operation, input, { keepsPrevious: true, isCostly: true });
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  const { downloads_total: total } = data;
  return (
    <Stack>
      <Facts
        rows={[
          [packPlan.pack, <bdi key="pack">{visible(`${data.name} ${data.version}`)}</bdi>],
          [packPlan.format, packPlan.formats[data.format]],
          [packPlan.loader, `${data.loader} ${data.loader_version ?? ""}`],
          [packPlan.minecraft, data.minecraft],
          [packPlan.base, <code key="base">{visible(data.base_image)}</code>],
          [packPlan.source, <code key="source">{data.source_sha256}</code>],
        ]}
      />
      <Preformatted label={packPlan.dockerfile}>{visible(data.dockerfile)}</Preformatted>
      {total === 0 ? (
        <Muted>{packPlan.noDownloads}</Muted>
      ) : (
        <>
          <p>{packPlan.downloads(total, formatBytes(data.download_bytes, language))}</p>
          <Chips label={packPlan.hosts} of={data.hosts.map(visible)} />
          <Downloads pack={data} />
        </>
      )}
      {total > pageSize && (
        <Pager
          text={packPlan.shown(data.downloads.length, total)}
          back={{ word: packPlan.previous, run: page > 0 ? () => setPage(page - 1) : undefined }}
          on={{
            word: packPlan.next,
            run: (page + 1) * pageSize < total ? () => setPage(page + 1) : undefined,
          }}
        />
      )}
      {data.left_out_total > 0 && (
        <Disclosure summary={packPlan.leftOut(data.left_out_total)}>
          <ul>
            {data.left_out.map(({ path, reason }) => (
              <li key={`${reason} ${path}`}>
                <bdi>{visible(path)}</bdi> · {packPlan.leftOutReasons[reason]}
              </li>
            ))}
          </ul>
        </Disclosure>
      )}
    </Stack>
  );
}

function Downloads({ pack }: { pack: Pack }) {
  const { packPlan } = usePackWords();
  const { language } = useLanguage();
  const columns = [
    { key: "path", title: packPlan.path, cell: ({ path }: Download) => <bdi>{visible(path)}</bdi> },
    {
      key: "host",
      title: packPlan.host,
      cell: ({ urls }: Download) =>
        urls.map((url) => (
          <div key={url} title={visible(url)}>
            {visible(new URL(url).host)}
          </div>
        )),
    },
    {
      key: "size",
      title: packPlan.size,
      cell: ({ size }: Download) => formatBytes(size, language),
    },
    {
      key: "hash",
      title: packPlan.hash,
      cell: ({ sha512, sha1 }: Download) => {
        const hash = sha512 ?? sha1 ?? "";
        return <Copied text={hash} what={packPlan.hash} shown={`${hash.slice(0, 16)}…`} />;
      },
    },
  ];
  return <Table label={packPlan.path} columns={columns} rows={pack.downloads} keyOf={({ path }) => path} />;
}
