import type { ServerInFrame } from "../server/server-frame.tsx";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Stack } from "../ui/layout.tsx";
import { Loading } from "../ui/loading.tsx";
import { useWords } from "../words/words.ts";
import { AwakeNotice } from "./awake-notice.tsx";
import { DownloadFile, FileHead } from "./file-head.tsx";
import { TextFile } from "./text-file.tsx";
import { useFile } from "./use-file.ts";

type FileEditorProps = { server: ServerInFrame; path: string; isAsleep: boolean };

/** One file: its text in an editor, or why not. What was read stays when the server wakes meanwhile. */
export function FileEditor({ server, path, isAsleep }: FileEditorProps) {
  const { files } = useWords();
  const { name, status } = server;
  const { file, error, retry } = useFile({ name, path, enabled: isAsleep });
  const frame = { name, path };
  if (file?.text !== undefined)
    return <TextFile {...frame} file={{ ...file, text: file.text }} isAsleep={isAsleep} />;
  const isShownElsewhere = file !== undefined || error?.code === "too_large";
  return (
    <Stack>
      <FileHead {...frame} />
      {isShownElsewhere && (
        <Empty title={file ? files.noText : files.tooLarge} action={<DownloadFile {...frame} />} />
      )}
      {!isShownElsewhere && error && <Failure error={error} retry={retry} />}
      {!file && !error && (isAsleep ? <Loading /> : <AwakeNotice status={status} />)}
    </Stack>
  );
}
