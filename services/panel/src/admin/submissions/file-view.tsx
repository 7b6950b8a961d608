import { useMemo, useState } from "react";
import { useOperation } from "../../api/query.ts";
import { differingLines } from "../../files/differing-lines.ts";
import { languageOfFile, lineBreakOf } from "../../files/text-content.ts";
import { Checkbox } from "../../ui/checkbox.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Row, Stack } from "../../ui/layout.tsx";
import { Loading } from "../../ui/loading.tsx";
import { TextEditor } from "../../ui/text-editor.tsx";
import { formatBytes } from "../../words/format.ts";
import { usePackWords } from "../../words/pack-words.ts";
import { visible } from "../../words/visible.ts";
import { useLanguage, useWords } from "../../words/words.ts";
import styles from "../packs.module.css";
import { isDockerfile, nameOf } from "./context-tree.ts";

/** One file of a context as text, beside what it was in the author's last approved pack. */
export function FileView({ id, path }: { id: string; path: string }) {
  const { review } = usePackWords();
  const { language } = useLanguage();
  const file = useOperation("submissions.readContextFile", { id, path }, { isCostly: true });
  const [isCompared, setCompared] = useState(true);
  const text = file.data?.text;
  const previous = file.data?.previous;
  const hasDiffering = previous !== undefined && previous !== text;
  const differing = useMemo(
    () => (hasDiffering ? differingLines(linesOf(previous), linesOf(text ?? "")) : undefined),
    [hasDiffering, previous, text],
  );
  if (file.error?.code === "not_found")
    return <Empty title={path === "Dockerfile" ? review.noDockerfile : review.noFile} />;
  if (!file.data)
    return file.error ? <Failure error={file.error} retry={() => void file.refetch()} /> : <Loading />;
  return (
    <Stack>
      <Row isSpread>
        <h3>
          <bdi>{visible(path)}</bdi>
        </h3>
        <span>{formatBytes(file.data.size, language)}</span>
      </Row>
      {hasDiffering && <Checkbox label={review.compareFile} isChecked={isCompared} onChange={setCompared} />}
      {previous !== undefined && !hasDiffering && <p>{review.sameFile}</p>}
      {text === undefined && !hasDiffering && <Empty title={review.noText} />}
      <div className={styles.sides} {...(hasDiffering && isCompared && { "data-two": true })}>
        {hasDiffering && isCompared && (
          <div>
            <h4>{review.earlierFile}</h4>
            <Text
              label={review.earlierFile}
              path={path}
              text={previous}
              marked={differing?.left ?? nothing}
            />
          </div>
        )}
        {text !== undefined && (
          <div>
            {hasDiffering && isCompared && <h4>{review.laterFile}</h4>}
            <Text
              label={review.laterFile}
              path={path}
              text={text}
              marked={(isCompared && differing?.right) || nothing}
            />
          </div>
        )}
      </div>
    </Stack>
  );
}

const nothing: readonly number[] = [];
const linesOf = (text: string) => text.split(/\r?\n/);

type TextProps = { label: string; path: string; text: string; marked: readonly number[] };

function Text({ label, path, text, marked }: TextProps) {
  const { files } = useWords();
  return (
    <TextEditor
      label={label}
      text={text}
      language={isDockerfile(path) ? "dockerfile" : languageOfFile(nameOf(path))}
      lineBreak={lineBreakOf(text)}
      phrases={files.searchPhrases}
      marked={marked}
      isReadOnly
      isLow
    />
  );
}
