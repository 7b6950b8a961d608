import { PackagePlus } from "lucide-react";
import { useState } from "react";
import { useAction, useOperation } from "../api/query.ts";
import { addContext } from "../files/upload/uploads.ts";
import { useDrop } from "../files/upload/use-drop.ts";
import { Button } from "../ui/button.tsx";
import { DropHint } from "../ui/drop-hint.tsx";
import { Failure } from "../ui/failure.tsx";
import { Field } from "../ui/field.tsx";
import { FileChooser } from "../ui/file-chooser.tsx";
import { Form } from "../ui/form.tsx";
import { Card, Muted, Row, Stack } from "../ui/layout.tsx";
import { Notice } from "../ui/notice.tsx";
import { useToast } from "../ui/toasts.tsx";
import { formatBytes, isolate } from "../words/format.ts";
import { usePackWords } from "../words/pack-words.ts";
import { visible } from "../words/visible.ts";
import { useLanguage, useWords } from "../words/words.ts";
import { mostNameLength, nameOfFile } from "./context-file.ts";
import { type ChosenContext, readContext } from "./read-context.ts";
import styles from "./submissions.module.css";

/** Most packs of one person that wait for a review (docs/reference/submissions.md#limits). */
const mostPending = 5;

/** Makes a pack of a name and a file; the file can be dropped anywhere on the page. */
export function NewPack({ pending }: { pending: number }) {
  const { submissions } = usePackWords();
  const { shell } = useWords();
  const { language } = useLanguage();
  const toast = useToast();
  const limits = useOperation("submissions.readLimits", {});
  const maxBytes = limits.data?.max_context_bytes;
  const create = useAction("submissions.create", ["submissions.listOwn"]);
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<ChosenContext>();
  const isFull = pending >= mostPending;
  const choose = async ([file, ...more]: readonly File[]) => {
    if (!file || isFull) return;
    const read = await readContext(file, maxBytes);
    setChosen(more.length > 0 ? { ...read, problem: "several" } : read);
    setName((typed) => (typed === "" ? nameOfFile(file.name) : typed));
  };
  const isHeldOver = useDrop((dropped) => void choose(dropped.flatMap(({ file }) => file ?? [])));
  const canCreate = !isFull && name.trim() !== "" && chosen !== undefined && chosen.problem === undefined;
  const submit = () => {
    if (!canCreate || create.isPending) return;
    create.mutate(
      { display_name: name.trim() },
      {
        onSuccess: ({ id, display_name }) => {
          addContext(id, chosen.file);
          toast({ kind: "done", text: submissions.created(isolate(display_name)) });
          setName("");
          setChosen(undefined);
        },
      },
    );
  };
  const whyNot = isFull ? submissions.full(mostPending) : canCreate ? undefined : shell.fillIn;
  const isBadName = create.error?.code === "bad_request";
  return (
    <Card title={submissions.make}>
      {isFull && <Notice kind="waiting">{submissions.full(mostPending)}</Notice>}
      <Form onSubmit={submit}>
        <Stack>
          <div className={styles.chooser}>
            <FileChooser
              isSingle
              accept=".tar.gz,.tgz,.mrpack,.zip,application/gzip,application/zip"
              whyNot={isFull ? submissions.full(mostPending) : undefined}
              onChoose={(files) => void choose(files)}
            >
              {submissions.choose}
            </FileChooser>
            <Muted>{chosen ? undefined : submissions.dropHint}</Muted>
            {chosen && (
              <span role="status">
                <bdi>{visible(chosen.file.name)}</bdi> · {formatBytes(chosen.file.size, language)}
              </span>
            )}
          </div>
          {chosen?.problem !== undefined && (
            <Notice kind="failed" isAlert>
              {submissions.problems[chosen.problem](formatBytes(maxBytes ?? 0, language))}
            </Notice>
          )}
          <Field
            label={submissions.name}
            name="pack-name"
            value={name}
            onChange={setName}
            maxLength={mostNameLength}
            isDisabled={isFull}
            {...(isBadName && { error: submissions.badName })}
          />
          {!isBadName && <Failure error={create.error} />}
          <Row isSpread>
            <Muted>
              {maxBytes !== undefined &&
                submissions.limits(formatBytes(maxBytes, language), pending, mostPending)}
            </Muted>
            <Button
              type="submit"
              kind="primary"
              icon={<PackagePlus size={16} aria-hidden />}
              isPending={create.isPending}
              whyNot={whyNot}
            >
              {submissions.makeAction}
            </Button>
          </Row>
        </Stack>
      </Form>
      {isHeldOver && <DropHint>{submissions.dropHere}</DropHint>}
    </Card>
  );
}
