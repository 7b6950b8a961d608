import { useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { startsIn } from "../access/paths.ts";
import { PathsStart } from "../access/paths-start.tsx";
import { useAccess } from "../access/use-access.ts";
import { isAtRest } from "../server/row.ts";
import { ServerFrame, type ServerInFrame } from "../server/server-frame.tsx";
import { Loading } from "../ui/loading.tsx";
import { NotFoundPage } from "../ui/not-found-page.tsx";
import { useWords } from "../words/words.ts";
import { AsideNotice } from "./aside-notice.tsx";
import { AwakeNotice } from "./awake-notice.tsx";
import { FetchNotices } from "./fetch-notices.tsx";
import { Folder } from "./folder.tsx";
import { placeOf } from "./path.ts";
import { searchViewOf } from "./search-view.ts";
import { UnzipNotices } from "./unzip-notices.tsx";

const FileSearch = lazy(() => import("./file-search.tsx").then((module) => ({ default: module.FileSearch })));
const FileHistory = lazy(() =>
  import("./file-history.tsx").then((module) => ({ default: module.FileHistory })),
);
const SftpAddress = lazy(() =>
  import("./sftp-address.tsx").then((module) => ({ default: module.SftpAddress })),
);
const FileEditor = lazy(() => import("./file-editor.tsx").then((module) => ({ default: module.FileEditor })));

/** The files of a server's world. */
export function Page() {
  const { files } = useWords();
  return (
    <ServerFrame section={files.title} needs={["files.read"]}>
      {(server) =>
        server.isManaged ? <Files key={server.name} {...server} /> : <NotFoundPage title={files.title} />
      }
    </ServerFrame>
  );
}

function Files(server: ServerInFrame) {
  const address = useSearch({ strict: false });
  const { folder, file } = placeOf(address);
  const view = searchViewOf(address);
  const areVersionsShown = (address as { versions?: unknown }).versions === "yes";
  const isAsleep = isAtRest(server.status.phase);
  const paths = startsIn(folder, useAccess().limits?.read_paths);
  if (file !== undefined)
    return (
      <Suspense fallback={<Loading />}>
        {areVersionsShown ? (
          <FileHistory key={file} server={server} path={file} isAsleep={isAsleep} />
        ) : (
          <FileEditor key={file} server={server} path={file} isAsleep={isAsleep} />
        )}
      </Suspense>
    );
  if (!isAsleep) return <AwakeNotice status={server.status} />;
  if (paths !== undefined) return <PathsStart name={server.name} paths={paths} />;
  if (view !== undefined)
    return (
      <Suspense fallback={<Loading />}>
        <FileSearch key={JSON.stringify([folder, view])} name={server.name} folder={folder} view={view} />
      </Suspense>
    );
  return (
    <>
      <UnzipNotices name={server.name} />
      <FetchNotices name={server.name} />
      <AsideNotice name={server.name} folder={folder} />
      <Folder name={server.name} folder={folder} />
      <Suspense>
        <SftpAddress name={server.name} />
      </Suspense>
    </>
  );
}
