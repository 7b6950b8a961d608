import { BookmarkPlus } from "lucide-react";
import { useState } from "react";
import { useAction, useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Failure } from "../ui/failure.tsx";
import { Field } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Muted, Row, Stack } from "../ui/layout.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { type Finds, isSameFinds, isSomething, type SavedFilter } from "./saved-filter.ts";

const changed = ["serverFilters.list"] as const;
const longestName = 64;

type SavedFiltersProps = {
  /** What the list shows now. */
  finds: Finds;
  /** Whether the list can show what a filter finds. */
  isShown?: (filter: SavedFilter) => boolean;
  onOpen: (filter: SavedFilter) => void;
};

/** The filters that the person saved, and the way to save what the list shows. */
export function SavedFilters({ finds, isShown = () => true, onOpen }: SavedFiltersProps) {
  const { fleet } = useWords();
  const { data, error, refetch } = useOperation("serverFilters.list", {});
  const [asked, setAsked] = useState<"save" | SavedFilter>();
  const remove = useDelete();
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : null;
  const shown = data.filters.filter(isShown);
  const open = shown.find((one) => isSameFinds(one, finds));
  if (shown.length === 0 && !isSomething(finds)) return null;
  return (
    <>
      <Row>
        {shown.map((filter) => (
          <Button
            key={filter.id}
            kind={filter === open ? "primary" : "plain"}
            label={(filter === open ? fleet.filterOpen : fleet.openFilter)(isolate(visible(filter.name)))}
            onPress={() => onOpen(filter)}
          >
            <bdi>{visible(filter.name)}</bdi>
          </Button>
        ))}
        {open && (
          <Button kind="quiet" onPress={() => setAsked(open)}>
            {fleet.deleteFilter}
          </Button>
        )}
        {!open && isSomething(finds) && (
          <Button icon={<BookmarkPlus size={16} aria-hidden />} onPress={() => setAsked("save")}>
            {fleet.saveFilter}
          </Button>
        )}
      </Row>
      {asked === "save" && (
        <SaveDialog finds={finds} all={data.filters} limit={data.limit} onClose={() => setAsked(undefined)} />
      )}
      {asked && asked !== "save" && (
        <Confirm
          isOpen
          title={fleet.deleteFilterOf(isolate(visible(asked.name)))}
          action={fleet.deleteFilter}
          onClose={() => setAsked(undefined)}
          onConfirm={() => remove(asked)}
        >
          <p>{fleet.deleteFilterHelp}</p>
        </Confirm>
      )}
    </>
  );
}

type SaveProps = { finds: Finds; all: readonly SavedFilter[]; limit: number; onClose: () => void };

function SaveDialog({ finds, all, limit, onClose }: SaveProps) {
  const { fleet, reasons } = useWords();
  const toast = useToast();
  const save = useAction("serverFilters.save", changed);
  const [text, setText] = useState("");
  const name = text.trim();
  const isKnown = all.some((one) => one.name === name);
  const isFull = all.length >= limit && !isKnown;
  const submit = () => {
    if (name === "" || isFull || save.isPending) return;
    const onSuccess = () => {
      toast({ kind: "done", text: fleet.filterSaved });
      onClose();
    };
    save.mutate({ name, ...finds }, { onSuccess });
  };
  return (
    <FormDialog
      title={fleet.saveFilter}
      action={fleet.saveFilterAction}
      isPending={save.isPending}
      whyNot={isFull ? fleet.filtersFull(limit) : name === "" ? reasons.noName : undefined}
      error={save.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <Stack>
        <Field
          label={fleet.filterName}
          name="filter-name"
          value={text}
          onChange={setText}
          maxLength={longestName}
          description={fleet.filterNameHelp}
          autoFocus
        />
        {isKnown && <Muted>{fleet.filterReplaced}</Muted>}
      </Stack>
    </FormDialog>
  );
}

/** The one to delete is forgotten with its dialog, so what deletes it lies outside of that. */
function useDelete(): (filter: SavedFilter) => void {
  const words = useWords();
  const toast = useToast();
  const remove = useAction("serverFilters.remove", changed);
  return ({ id }) =>
    remove.mutate(
      { id },
      {
        onSuccess: () => toast({ kind: "done", text: words.fleet.filterDeleted }),
        onError: (error) => toast(failedToast(words, error)),
      },
    );
}
