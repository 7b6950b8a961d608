import { Save } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { NotIncluded } from "../access/right-list.tsx";
import { useMayWrite } from "../access/use-access.ts";
import { heldWords, useWorldWork } from "../server/held.ts";
import { Button } from "../ui/button.tsx";
import { Failure } from "../ui/failure.tsx";
import { Row, Stack } from "../ui/layout.tsx";
import { LeaveDialog } from "../ui/leave-dialog.tsx";
import { Link } from "../ui/link.tsx";
import { Notice } from "../ui/notice.tsx";
import { TextEditor, type TextEditorHandle } from "../ui/text-editor.tsx";
import { useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";
import { ConflictNotice, TheirSide } from "./conflict.tsx";
import { differingLines } from "./differing-lines.ts";
import { DownloadFile, FileHead } from "./file-head.tsx";
import styles from "./files.module.css";
import { mergeTexts } from "./merge-texts.ts";
import { nameOf } from "./path.ts";
import { editableBytes, languageOfFile } from "./text-content.ts";
import type { FileText } from "./use-file.ts";
import { useSave } from "./use-save.ts";

type TextFileProps = {
  name: string;
  path: string;
  file: FileText & { text: string };
  isAsleep: boolean;
};

/** The text of a file. It is saved only over the version that was read, and never lost by leaving. */
export function TextFile({ name, path, file, isAsleep }: TextFileProps) {
  const { files } = useWords();
  const edit = useEdit({ name, path, file });
  const { editor, isChanged, setChanged, mine, theirs } = edit;
  const isReadOnly = !useIsEditable(path, file);
  const differing = useDiffering(theirs?.text, mine);
  const canSave = !isReadOnly && isAsleep && (isChanged || theirs !== undefined);
  const whyNot = useWhyNot(name, { canSave, isAsleep });
  const submit = () => {
    if (canSave && !edit.isSaving) void edit.submit();
  };
  const { lineBreak } = file;
  const edited = { language: languageOfFile(nameOf(path)), lineBreak, phrases: files.searchPhrases };
  return (
    <Stack>
      <FileHead name={name} path={path}>
        <Row>
          {isChanged && <span role="status">{files.unsaved}</span>}
          <Link to={`/servers/${name}/files`} search={{ open: path, versions: "yes" }} looks="button">
            {files.versions}
          </Link>
          <DownloadFile name={name} path={path} />
          {!isReadOnly && (
            <Button
              kind="primary"
              icon={<Save size={16} aria-hidden />}
              isPending={edit.isSaving}
              whyNot={whyNot}
              onPress={submit}
            >
              {theirs ? files.keepMine : files.save}
            </Button>
          )}
        </Row>
      </FileHead>
      <WhyReadOnly file={file} path={path} />
      {!isAsleep && !isReadOnly && <Notice kind="waiting">{files.awakeEditor}</Notice>}
      <Failure error={edit.error ?? null} />
      {theirs && (
        <ConflictNotice
          theirs={theirs}
          canPutTogether={edit.merge(mine) !== undefined}
          onTakeTheirs={edit.takeTheirs}
          onPutTogether={edit.putTogether}
        />
      )}
      <div className={styles.sides} {...(theirs?.text !== undefined && { "data-two": true })}>
        <TheirSide theirs={theirs} edited={edited} marked={differing ? differing.left : nothing} />
        <div>
          {theirs?.text !== undefined && <h3>{files.mine}</h3>}
          <TextEditor
            {...edited}
            ref={editor}
            label={files.content(isolate(nameOf(path)))}
            text={file.text}
            isReadOnly={isReadOnly}
            takesFocus
            marked={differing ? differing.right : nothing}
            onEdit={setChanged}
            onSave={submit}
          />
        </div>
      </div>
      <LeaveDialog costs={() => isChanged} asksOnUnload={() => isChanged} />
    </Stack>
  );
}

/** What is typed, how it is saved, and the ways out of a conflict; none of them loses what was typed. */
function useEdit({ name, path, file }: Omit<TextFileProps, "isAsleep">) {
  const { files } = useWords();
  const toast = useToast();
  const editor = useRef<TextEditorHandle>(null);
  const [isChanged, setChanged] = useState(false);
  const [mine, setMine] = useState("");
  const { save, isSaving, error, base, theirs, settle } = useSave({ name, path, file });
  const typed = () => editor.current?.text() ?? "";
  const merge = (text: string) =>
    theirs?.text === undefined
      ? undefined
      : mergeTexts({ base, mine: text, theirs: theirs.text }, file.lineBreak);
  const submit = async () => {
    const text = typed();
    setMine(text);
    if (!(await save(text))) return;
    // What was typed while it was saved is not part of it.
    if (typed() === text) editor.current?.markSaved();
    toast({ kind: "done", text: files.saved(isolate(nameOf(path))) });
  };
  const takeTheirs = () => {
    const left = typed();
    editor.current?.replace(theirs?.text ?? "");
    editor.current?.markSaved();
    settle();
    const action = { word: files.bringMineBack, run: () => editor.current?.replace(left) };
    toast({ kind: "done", text: files.tookTheirs, action });
  };
  const putTogether = () => {
    const merged = merge(typed());
    // What was typed since may be what theirs changed: then the two are compared again.
    if (merged === undefined) return setMine(typed());
    editor.current?.replace(merged);
    settle();
  };
  return {
    ...{ editor, isChanged, setChanged, mine, isSaving, error, theirs },
    ...{ submit, merge, takeTheirs, putTogether },
  };
}

/** Nobody edits it here, whatever their access is. */
function isFixed({ bytes, isMasked }: FileText): boolean {
  return bytes > editableBytes || isMasked;
}

function useIsEditable(path: string, file: FileText): boolean {
  return useMayWrite()(path) && !isFixed(file);
}

function WhyReadOnly({ file, path }: { file: FileText; path: string }) {
  const { files, sharing } = useWords();
  const mayWrite = useMayWrite()(path);
  if (!mayWrite) return <NotIncluded what={sharing.rightWords["files.write"]} />;
  if (!isFixed(file)) return null;
  return <Notice>{file.isMasked ? files.readOnlyMasked : files.readOnlySize}</Notice>;
}

function useDiffering(theirs: string | undefined, mine: string) {
  return useMemo(
    () => theirs !== undefined && differingLines(linesOf(theirs), linesOf(mine)),
    [theirs, mine],
  );
}

/** Why the text cannot be saved now. */
function useWhyNot(name: string, { canSave, isAsleep }: { canSave: boolean; isAsleep: boolean }) {
  const words = useWords();
  const held = heldWords(words, useWorldWork(name));
  if (canSave) return held;
  return isAsleep ? words.reasons.unchanged : words.reasons.awake;
}

const nothing: readonly number[] = [];

function linesOf(text: string): string[] {
  return text.split(/\r?\n/);
}
