import { useState } from "react";
import { useAction } from "../../api/query.ts";
import { Checkbox } from "../../ui/checkbox.tsx";
import { Choice } from "../../ui/choice.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Muted, Row, Stack } from "../../ui/layout.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { useAnnouncementWords } from "../../words/announcement-words.ts";
import { isolate } from "../../words/format.ts";
import { ownZone } from "../../words/local-time.ts";
import { visible } from "../../words/visible.ts";
import {
  type Announcement,
  type Decided,
  type Draft,
  decideDraft,
  draftOf,
  emptyDraft,
  longestText,
} from "./draft.ts";
import { changed } from "./lists.ts";

const kinds = ["message", "maintenance"] as const;
const severities = ["info", "warning"] as const;

type DialogProps = { announcement?: Announcement; onClose: () => void };

/** Asks what is announced, and when. */
export function AnnouncementDialog({ announcement, onClose }: DialogProps) {
  const words = useAnnouncementWords();
  const form = useForm({ announcement, onClose });
  return (
    <FormDialog
      title={announcement ? words.editOf(isolate(visible(announcement.text.en))) : words.add}
      action={words.save}
      isPending={form.isPending}
      error={form.error}
      onSubmit={form.submit}
      onClose={onClose}
    >
      <Stack>
        <Words form={form} />
        <Times form={form} />
      </Stack>
    </FormDialog>
  );
}

function useForm({ announcement, onClose }: { announcement: Announcement | undefined; onClose: () => void }) {
  const words = useAnnouncementWords();
  const toast = useToast();
  const zone = ownZone();
  const create = useAction("announcements.create", changed);
  const change = useAction("announcements.change", changed);
  // A second try of a request whose answer was lost must not announce it twice.
  const [id] = useState(() => `ann-${crypto.randomUUID()}`);
  const [draft, setDraft] = useState<Draft>(() => (announcement ? draftOf(announcement, zone) : emptyDraft));
  const [problems, setProblems] = useState<Decided["problems"]>([]);
  const begun = announcement?.state === "current" ? announcement.start : undefined;
  const isPending = create.isPending || change.isPending;
  const submit = () => {
    const decided = decideDraft(draft, { zone, now: Date.now(), begun });
    setProblems(decided.problems);
    if (!decided.body || isPending) return;
    const onSuccess = () => {
      toast({ kind: "done", text: words.saved });
      onClose();
    };
    if (announcement) change.mutate({ id: announcement.id, ...decided.body }, { onSuccess });
    else create.mutate({ id, ...decided.body }, { onSuccess });
  };
  const set = (some: Partial<Draft>) => setDraft({ ...draft, ...some });
  const error = announcement ? change.error : create.error;
  return { draft, set, problems, submit, isPending, error, zone, hasBegun: begun !== undefined };
}

type FormProps = { form: ReturnType<typeof useForm> };

function Words({ form: { draft, set, problems } }: FormProps) {
  const words = useAnnouncementWords();
  return (
    <>
      <Choice
        label={words.kind}
        value={draft.kind}
        onChange={(kind) => set({ kind, severity: kind === "maintenance" ? "warning" : draft.severity })}
        options={kinds.map((one) => [one, words.kinds[one]])}
      />
      <Field
        label={words.text}
        name="announcement-en"
        value={draft.en}
        onChange={(en) => set({ en })}
        maxLength={longestText}
        description={words.textHelp(longestText)}
        error={problems.includes("text") ? words.textMissing : undefined}
        autoFocus
      />
      <Field
        label={words.chinese}
        name="announcement-zh"
        value={draft.zh}
        onChange={(zh) => set({ zh })}
        maxLength={longestText}
        description={words.chineseHelp}
      />
      <Choice
        label={words.severity}
        value={draft.severity}
        onChange={(severity) => set({ severity })}
        options={severities.map((one) => [one, words.severities[one]])}
      />
    </>
  );
}

function Times({ form: { draft, set, problems, zone, hasBegun } }: FormProps) {
  const words = useAnnouncementWords();
  const endProblem = problems.includes("end-missing")
    ? words.endMissing
    : problems.includes("end-not-after")
      ? words.endNotAfter
      : undefined;
  return (
    <>
      <Row>
        {!hasBegun && (
          <Field
            label={words.start}
            name="announcement-start"
            type="datetime-local"
            value={draft.start}
            onChange={(start) => set({ start })}
            description={words.startHelp}
          />
        )}
        <Field
          label={words.end}
          name="announcement-end"
          type="datetime-local"
          value={draft.end}
          onChange={(end) => set({ end })}
          error={endProblem}
        />
      </Row>
      <Muted>{hasBegun ? `${words.startBegun} ${words.zone(zone)}` : words.zone(zone)}</Muted>
      <Checkbox label={words.public} isChecked={draft.isPublic} onChange={(isPublic) => set({ isPublic })} />
    </>
  );
}
