import { CloudDownload, FileArchive, RotateCw, Search } from "lucide-react";
import { lazy, Suspense, useMemo, useState } from "react";
import { NotIncluded } from "../access/right-list.tsx";
import { useMayWrite } from "../access/use-access.ts";
import { heldWords, useWorldWork } from "../server/held.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Row, Stack } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { Loading } from "../ui/loading.tsx";
import { Notice } from "../ui/notice.tsx";
import { Time } from "../ui/time.tsx";
import { VirtualTable } from "../ui/virtual-table.tsx";
import { formatBytes } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useLanguage, useWords } from "../words/words.ts";
import { columnsOf } from "./columns.tsx";
import { compareEntries, type Entry } from "./entry.ts";
import styles from "./files.module.css";
import type { Listing as FolderListing } from "./listing.ts";
import { NewEntry } from "./new-entry.tsx";
import { crumbsOf, joinPath, searchOf } from "./path.ts";
import { firstSearch, searchAddressOf } from "./search-view.ts";
import { UploadButtons } from "./upload/upload-buttons.tsx";
import { useListing } from "./use-listing.ts";

const ArchiveDialog = lazy(() =>
  import("./archive-dialog.tsx").then((module) => ({ default: module.ArchiveDialog })),
);

const FetchDialog = lazy(() =>
  import("./fetch-dialog.tsx").then((module) => ({ default: module.FetchDialog })),
);

type FolderProps = { name: string; folder: string };

/** One folder of the world: what it holds, and what can be done there. Reading it costs a Job. */
export function Folder({ name, folder }: FolderProps) {
  const words = useWords();
  const { files, sharing } = words;
  const held = heldWords(words, useWorldWork(name));
  const mayWrite = useMayWrite()(folder);
  const query = useListing({ name, path: folder });
  const { data, error, isFetching, isFetchingNextPage, fetchNextPage, refetch } = query;
  const existing = useMemo(
    () => new Set(data?.entries.map((entry) => joinPath(folder, entry.name))),
    [data, folder],
  );
  return (
    <Stack>
      <Row isSpread>
        <Crumbs name={name} folder={folder} />
        <div className={styles.tools}>
          {mayWrite && (
            <>
              <UploadButtons target={{ server: name, folder, existing }} />
              <NewEntry name={name} folder={folder} kind="folder" held={held} />
              <NewEntry name={name} folder={folder} kind="file" held={held} />
              <Fetch name={name} folder={folder} held={held} />
              {data && data.entries.length > 0 && (
                <Pack name={name} folder={folder} entries={data.entries} held={held} />
              )}
            </>
          )}
          <Link to={`/servers/${name}/files`} search={searchAddressOf(folder, firstSearch)} looks="button">
            <Search size={16} aria-hidden />
            {files.search}
          </Link>
          <Button
            kind="quiet"
            icon={<RotateCw size={16} aria-hidden />}
            isPending={isFetching && !isFetchingNextPage}
            onPress={() => void refetch()}
          >
            {files.refresh}
          </Button>
        </div>
      </Row>
      {!mayWrite && <NotIncluded what={sharing.rightWords["files.write"]} />}
      {error?.code === "not_found" || error?.code === "bad_path" ? (
        <Empty
          title={files.gone}
          action={
            <Link to={`/servers/${name}/files`} looks="button">
              {files.toRoot}
            </Link>
          }
        />
      ) : (
        <>
          {error && <Failure error={error} retry={() => void refetch()} />}
          {data && (
            <Listing
              name={name}
              folder={folder}
              listing={data}
              held={held}
              readAt={query.dataUpdatedAt}
              isOld={(isFetching && !isFetchingNextPage) || error !== null}
              isReading={isFetching}
              onMore={() => void fetchNextPage()}
            />
          )}
          {!data && !error && <Loading />}
        </>
      )}
    </Stack>
  );
}

type PackProps = FolderProps & { entries: readonly Entry[]; held: string | undefined };

function Pack({ held, ...about }: PackProps) {
  const { files } = useWords();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button icon={<FileArchive size={16} aria-hidden />} whyNot={held} onPress={() => setOpen(true)}>
        {files.pack}
      </Button>
      {isOpen && (
        <Suspense>
          <ArchiveDialog {...about} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

function Fetch({ held, ...about }: FolderProps & { held: string | undefined }) {
  const { files } = useWords();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button icon={<CloudDownload size={16} aria-hidden />} whyNot={held} onPress={() => setOpen(true)}>
        {files.fetch}
      </Button>
      {isOpen && (
        <Suspense>
          <FetchDialog {...about} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

function Crumbs({ name, folder }: FolderProps) {
  const { files } = useWords();
  const to = `/servers/${name}/files`;
  const crumbs = [{ name: files.root, path: "" }, ...crumbsOf(folder)];
  return (
    <nav aria-label={files.path}>
      <ol className={styles.crumbs}>
        {crumbs.map((crumb, at) => (
          <li key={crumb.path}>
            {at === crumbs.length - 1 ? (
              <strong aria-current="page">
                <bdi>{visible(crumb.name)}</bdi>
              </strong>
            ) : (
              <Link to={to} search={searchOf(crumb.path)}>
                <bdi>{visible(crumb.name)}</bdi>
              </Link>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

type ListingProps = FolderProps & {
  listing: FolderListing;
  readAt: number;
  isOld: boolean;
  isReading: boolean;
  onMore: () => void;
  held: string | undefined;
};

function Listing({ name, folder, listing, readAt, isOld, held, isReading, onMore }: ListingProps) {
  const words = useWords();
  const { files } = words;
  const { language } = useLanguage();
  const { entries, truncated, free_bytes: free } = listing;
  const rows = useMemo(() => [...entries].sort(compareEntries(language)), [entries, language]);
  const columns = useMemo(
    () => columnsOf(words, { name, folder, language, held }),
    [words, name, folder, language, held],
  );
  const more = (
    <Button isPending={isReading} onPress={onMore}>
      {files.listMore}
    </Button>
  );
  return (
    <>
      <p className={styles.summary} role="status">
        {isOld ? (
          <>
            {files.reading} <Time at={new Date(readAt).toISOString()} />
          </>
        ) : (
          <>
            {files.entries(rows.length)}
            {free !== null && ` · ${free === 0 ? files.full : files.free(formatBytes(free, language))}`}
          </>
        )}
      </p>
      {truncated && (
        <Notice kind="waiting" actions={more}>
          {files.truncated(rows.length)}
        </Notice>
      )}
      {rows.length === 0 ? (
        <Empty title={files.empty}>{files.emptyHelp}</Empty>
      ) : (
        <div {...(isOld && { className: styles.old })}>
          <VirtualTable label={files.title} columns={columns} rows={rows} keyOf={nameOf} rowPx={rowPx} />
        </div>
      )}
      {truncated && <Row>{more}</Row>}
    </>
  );
}

const nameOf = ({ name }: Entry) => name;
const rowPx = {
  wide: { comfortable: 44, compact: 34 },
  narrow: { comfortable: 100, compact: 92 },
} as const;
