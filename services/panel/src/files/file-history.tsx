import { useMemo, useState } from "react";
import { useMayWrite } from "../access/use-access.ts";
import type { Output } from "../api/operations.ts";
import { poll, useAction, useOperation } from "../api/query.ts";
import { heldWords, useWorldWork } from "../server/held.ts";
import type { ServerInFrame } from "../server/server-frame.tsx";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Muted, Row, Stack } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { Loading } from "../ui/loading.tsx";
import { Notice } from "../ui/notice.tsx";
import { TextEditor } from "../ui/text-editor.tsx";
import { Time } from "../ui/time.tsx";
import { useToast } from "../ui/toasts.tsx";
import { useFileWords } from "../words/file-words.ts";
import { formatBytes, isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useLanguage, useWords } from "../words/words.ts";
import { differingLines } from "./differing-lines.ts";
import styles from "./files.module.css";
import { nameOf } from "./path.ts";
import { bytesOfBase64, languageOfFile, lineBreakOf, textOfBytes } from "./text-content.ts";
import { useFile } from "./use-file.ts";

type FileHistoryProps = { server: ServerInFrame; path: string; isAsleep: boolean };
type Version = Output<"fileVersions.list">["versions"][number];

/** What a text file was before it was replaced here, beside what it is, and the way back. */
export function FileHistory({ server: { name }, path, isAsleep }: FileHistoryProps) {
  const { history } = useFileWords();
  const [chosen, setChosen] = useState<string>();
  const { data, error, refetch } = useOperation("fileVersions.list", { name, path }, { every: poll.list });
  return (
    <Stack>
      <Row>
        <Link to={`/servers/${name}/files`} search={{ open: path }} looks="button">
          {history.back}
        </Link>
        <bdi className={styles.path}>{visible(path)}</bdi>
      </Row>
      <Muted>{history.help}</Muted>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data?.versions.length === 0 && <Empty title={history.none}>{history.noneHelp}</Empty>}
      {data && data.versions.length > 0 && (
        <List label={history.title}>
          {data.versions.map((version) => (
            <VersionItem
              key={version.id}
              version={version}
              isChosen={version.id === chosen}
              onChoose={() => setChosen(version.id === chosen ? undefined : version.id)}
            />
          ))}
        </List>
      )}
      {chosen !== undefined && (
        <Comparison
          key={chosen}
          {...{ name, path, id: chosen, isAsleep, onUndone: () => setChosen(undefined) }}
        />
      )}
    </Stack>
  );
}

type VersionItemProps = { version: Version; isChosen: boolean; onChoose: () => void };

function VersionItem({ version, isChosen, onChoose }: VersionItemProps) {
  const { history } = useFileWords();
  const { language } = useLanguage();
  const { replaced_at, size, by } = version;
  return (
    <ListItem
      title={
        <>
          {history.before} <Time at={replaced_at} />
        </>
      }
      details={`${history.by[by]} · ${formatBytes(size, language)}`}
      actions={<Button onPress={onChoose}>{isChosen ? history.close : history.compare}</Button>}
    />
  );
}

type ComparisonProps = {
  name: string;
  path: string;
  id: string;
  isAsleep: boolean;
  onUndone: () => void;
};

function Comparison({ name, path, id, isAsleep, onUndone }: ComparisonProps) {
  const { history } = useFileWords();
  const read = useOperation("fileVersions.read", { name, path, id });
  const { file, error: nowError, retry } = useFile({ name, path, enabled: isAsleep });
  const isGone = nowError?.code === "not_found";
  const earlier = useMemo(() => read.data && textOf(read.data.content), [read.data]);
  const now = isGone ? "" : file?.text;
  const undo = useUndo({ name, path, onUndone });
  const whyNot = useWhyNot({ name, path, isAsleep, isSame: file?.sha256 === read.data?.sha256 });
  if (read.error) return <Failure error={read.error} retry={() => void read.refetch()} />;
  if (!read.data || earlier === undefined) return <Loading />;
  const isKnown = isGone || file !== undefined;
  return (
    <Stack>
      {!isAsleep && <Notice kind="waiting">{history.awake}</Notice>}
      {isGone && <Notice>{history.gone}</Notice>}
      {nowError && !isGone && <Failure error={nowError} retry={retry} />}
      <Failure error={undo.error} />
      {isAsleep && !isKnown && !nowError && <Loading />}
      {(isKnown || !isAsleep) && (
        <>
          <Row>
            <Button
              kind="primary"
              isPending={undo.isPending}
              whyNot={whyNot}
              onPress={() => undo.run(read.data, file?.sha256)}
            >
              {history.undo}
            </Button>
          </Row>
          <Sides path={path} earlier={earlier} now={now} />
        </>
      )}
    </Stack>
  );
}

type UndoAbout = { name: string; path: string; onUndone: () => void };

/** An ordinary write over the file as it was read: who changes it meanwhile is not overwritten. */
function useUndo({ name, path, onUndone }: UndoAbout) {
  const { history } = useFileWords();
  const toast = useToast();
  const write = useAction("files.write", ["files.list", "fileVersions.list"]);
  const run = ({ content, sha256 }: Output<"fileVersions.read">, expected: string | undefined) =>
    write.mutate(
      {
        ...{ name, path, content, content_sha256: sha256 },
        ...(expected === undefined ? { create_only: true } : { expect_sha256: expected }),
      },
      {
        onSuccess: () => {
          toast({ kind: "done", text: history.undone(isolate(nameOf(path))) });
          onUndone();
        },
      },
    );
  return { run, isPending: write.isPending, error: write.error };
}

type WhyNotAbout = { name: string; path: string; isAsleep: boolean; isSame: boolean };

function useWhyNot({ name, path, isAsleep, isSame }: WhyNotAbout): string | undefined {
  const words = useWords();
  const { history } = useFileWords();
  const mayWrite = useMayWrite()(path);
  const held = heldWords(words, useWorldWork(name));
  if (!mayWrite) return history.mayNot;
  if (!isAsleep) return words.reasons.awake;
  return isSame ? history.same : held;
}

type SidesProps = { path: string; earlier: string; now: string | undefined };

function Sides({ path, earlier, now }: SidesProps) {
  const { history } = useFileWords();
  const { files } = useWords();
  const differing = useMemo(
    () => (now === undefined ? undefined : differingLines(linesOf(earlier), linesOf(now))),
    [earlier, now],
  );
  const about = { language: languageOfFile(nameOf(path)), phrases: files.searchPhrases, isLow: true };
  return (
    <div className={styles.sides} {...(now !== undefined && { "data-two": true })}>
      <div>
        <h3>{history.earlier}</h3>
        <TextEditor
          {...about}
          label={history.earlier}
          text={earlier}
          lineBreak={lineBreakOf(earlier)}
          isReadOnly
          marked={differing?.left ?? nothing}
        />
      </div>
      {now !== undefined && (
        <div>
          <h3>{history.now}</h3>
          <TextEditor
            {...about}
            label={history.now}
            text={now}
            lineBreak={lineBreakOf(now)}
            isReadOnly
            marked={differing?.right ?? nothing}
          />
        </div>
      )}
    </div>
  );
}

const nothing: readonly number[] = [];

function linesOf(text: string): string[] {
  return text.split(/\r?\n/);
}

function textOf(content: string): string {
  return textOfBytes(bytesOfBase64(content)) ?? "";
}
