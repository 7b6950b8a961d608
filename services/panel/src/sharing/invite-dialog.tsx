import { useState } from "react";
import type { Output } from "../api/operations.ts";
import { useAction } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Choice } from "../ui/choice.tsx";
import { Copied } from "../ui/copied.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Limited, Stack } from "../ui/layout.tsx";
import { Select } from "../ui/select.tsx";
import { useToast } from "../ui/toasts.tsx";
import { faultWords } from "../words/faults.ts";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";
import { grantOf, isEndAhead, newDraft } from "./draft.ts";
import { GrantFields } from "./grant-fields.tsx";

const ways = ["link", "mail", "player"] as const;
type Way = (typeof ways)[number];
const lifetimes = ["1", "7", "30"] as const;
type Days = (typeof lifetimes)[number];

type InviteProps = { name: string; onClose: () => void };

/** Asks whom to invite and to what; the link of an invitation is shown once. */
export function InviteDialog({ name, onClose }: InviteProps) {
  const { sharing } = useWords();
  const form = useInvitation(name, onClose);
  const { invite } = form;
  if (invite.data?.secret !== undefined) return <LinkOnce made={invite.data} onClose={onClose} />;
  return (
    <FormDialog
      title={sharing.inviteTitle(isolate(name))}
      action={sharing.inviteActions[form.way]}
      isPending={invite.isPending}
      error={form.toError ? null : invite.error}
      onSubmit={form.submit}
      onClose={onClose}
    >
      <Stack>
        <Whom form={form} />
        <GrantFields draft={form.draft} onChange={form.setDraft} isLate={form.isLate} />
      </Stack>
    </FormDialog>
  );
}

type InvitationForm = ReturnType<typeof useInvitation>;

function Whom({ form }: { form: InvitationForm }) {
  const { sharing, signIn } = useWords();
  const { way, to, days } = form;
  return (
    <>
      <Choice
        label={sharing.how}
        value={way}
        onChange={form.setWay}
        options={ways.map((one) => [one, sharing.ways[one]])}
      />
      {way !== "link" && (
        <Limited>
          <Field
            label={way === "mail" ? signIn.email : sharing.player}
            name={way === "mail" ? "invite-email" : "invite-player"}
            type={way === "mail" ? "email" : "text"}
            value={to}
            onChange={form.setTo}
            error={form.toError}
            isRequired
            maxLength={way === "mail" ? 254 : 16}
          />
        </Limited>
      )}
      <Limited>
        <Select
          label={sharing.lifetime}
          value={days}
          onChange={form.setDays}
          options={lifetimes.map((one) => [one, sharing.days(Number(one))])}
        />
      </Limited>
    </>
  );
}

function useInvitation(name: string, onClose: () => void) {
  const words = useWords();
  const { sharing } = words;
  const toast = useToast();
  const invite = useAction("members.invite", ["members.list"]);
  const [way, setWay] = useState<Way>("link");
  const [to, setTo] = useState("");
  const [days, setDays] = useState<Days>("7");
  const [draft, setDraft] = useState(newDraft);
  const [isSubmitted, setSubmitted] = useState(false);
  const given = to.trim();
  const isMissing = way !== "link" && given === "";
  const isLate = !isEndAhead(draft, Date.now());
  const { error } = invite;
  const isAboutTo = way !== "link" && (error?.code === "player_unknown" || error?.code === "bad_request");
  const toError = isSubmitted && isMissing ? sharing.toMissing[way as "mail" | "player"] : undefined;
  const submit = () => {
    setSubmitted(true);
    if (isMissing || isLate || invite.isPending) return;
    invite.mutate(
      {
        name,
        ...grantOf(draft),
        expires_in_days: Number(days),
        ...(way === "mail" && { email: given }),
        ...(way === "player" && { player: given }),
      },
      {
        onSuccess: ({ secret, mailed }) => {
          if (secret !== undefined) return;
          const isQuiet = mailed === false;
          toast({
            kind: isQuiet ? "waiting" : "done",
            text: isQuiet ? sharing.notMailed(isolate(given)) : sharing.invited(isolate(given)),
          });
          onClose();
        },
      },
    );
  };
  return {
    ...{ invite, way, setWay, to, setTo, days, setDays, draft, setDraft, submit },
    isLate: isSubmitted && isLate,
    toError: toError ?? (isAboutTo && error ? faultWords(words, error) : undefined),
  };
}

/** An alert, so that a press beside it does not take the link away. */
function LinkOnce({ made, onClose }: { made: Output<"members.invite">; onClose: () => void }) {
  const { sharing } = useWords();
  const { secret = "" } = made;
  return (
    <Dialog
      isAlert
      isOpen
      title={sharing.linkTitle}
      onClose={onClose}
      actions={
        <Button kind="primary" onPress={onClose}>
          {sharing.linkDone}
        </Button>
      }
    >
      <p>{sharing.linkHelp}</p>
      <Copied text={`${location.origin}/invitations#${secret}`} what={sharing.linkWord} />
    </Dialog>
  );
}
