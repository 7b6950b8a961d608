import type { ComponentProps } from "react";
import { Button } from "../ui/button.tsx";
import { Row } from "../ui/layout.tsx";
import { Notice } from "../ui/notice.tsx";
import { TextEditor } from "../ui/text-editor.tsx";
import { useWords } from "../words/words.ts";
import type { Theirs } from "./use-save.ts";

type ConflictNoticeProps = {
  theirs: Theirs;
  /** The two changed different lines. */
  canPutTogether: boolean;
  onTakeTheirs: () => void;
  onPutTogether: () => void;
};

/** Somebody else was faster. Saving mine replaces theirs; here are the other ways out. */
export function ConflictNotice(props: ConflictNoticeProps) {
  const { theirs, canPutTogether, onTakeTheirs, onPutTogether } = props;
  const { files } = useWords();
  if (theirs.text === undefined)
    return (
      <Notice kind="waiting" isAlert>
        {theirs.sha256 === undefined ? files.conflictGone : files.conflict}
      </Notice>
    );
  return (
    <Notice
      kind="waiting"
      isAlert
      actions={
        <Row>
          {canPutTogether && <Button onPress={onPutTogether}>{files.putTogether}</Button>}
          <Button onPress={onTakeTheirs}>{files.takeTheirs}</Button>
        </Row>
      }
    >
      <p>{files.conflict}</p>
      <p>{canPutTogether ? files.conflictOtherLines : files.conflictSameLines}</p>
    </Notice>
  );
}

type TheirSideProps = {
  theirs: Theirs | undefined;
  edited: Pick<ComponentProps<typeof TextEditor>, "language" | "lineBreak" | "phrases">;
  marked: readonly number[];
};

/** What the file is now, beside what was typed. */
export function TheirSide({ theirs, edited, marked }: TheirSideProps) {
  const { files } = useWords();
  if (theirs?.text === undefined) return null;
  return (
    <div>
      <h3>{files.theirs}</h3>
      <TextEditor
        key={theirs.sha256}
        {...edited}
        label={files.theirs}
        text={theirs.text}
        isReadOnly
        marked={marked}
      />
    </div>
  );
}
