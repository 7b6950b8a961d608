import { useState } from "react";
import { RightList } from "../access/right-list.tsx";
import type { Output } from "../api/operations.ts";
import { useAction } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Muted, Stack } from "../ui/layout.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { Time } from "../ui/time.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { ChangeDialog } from "./change-dialog.tsx";

type Member = Output<"members.list">["members"][number];

type MembersProps = { name: string; members: readonly Member[]; mayInvite: boolean };

/** Whom a server is shared with. */
export function Members({ name, members, mayInvite }: MembersProps) {
  const { sharing } = useWords();
  return (
    <Card title={sharing.members}>
      {members.length === 0 && <Muted>{mayInvite ? sharing.noMembers : sharing.noMembersOfOther}</Muted>}
      {members.length > 0 && (
        <List label={sharing.members}>
          {members.map((member) => (
            <MemberItem key={member.id} name={name} member={member} />
          ))}
        </List>
      )}
    </Card>
  );
}

function MemberItem({ name, member }: { name: string; member: Member }) {
  const { sharing } = useWords();
  const [isChanging, setChanging] = useState(false);
  const shown = member.username === undefined ? sharing.unknown : visible(member.username);
  return (
    <>
      <ListItem
        isLong
        title={
          <>
            <bdi>{shown}</bdi>
            {member.is_me && ` (${sharing.you})`}
          </>
        }
        details={
          <Stack isTight>
            <RightList grant={member} />
            <div>
              {sharing.since} <Time at={member.joined_at} />
              {member.invited_by !== undefined && (
                <>
                  {" · "}
                  {sharing.invitedBy} <bdi>{visible(member.invited_by)}</bdi>
                </>
              )}
            </div>
          </Stack>
        }
        actions={
          member.may_change && (
            <>
              <Button label={sharing.changeOf(isolate(shown))} onPress={() => setChanging(true)}>
                {sharing.change}
              </Button>
              <Remove name={name} id={member.id} shown={shown} />
            </>
          )
        }
      />
      {isChanging && (
        <ChangeDialog name={name} member={member} shown={shown} onClose={() => setChanging(false)} />
      )}
    </>
  );
}

function Remove({ name, id, shown }: { name: string; id: string; shown: string }) {
  const words = useWords();
  const { sharing } = words;
  const toast = useToast();
  const remove = useAction("members.remove", ["members.list"]);
  const [isAsking, setAsking] = useState(false);
  const act = () =>
    remove.mutate(
      { name, id },
      {
        onSuccess: () => toast({ kind: "done", text: sharing.removed(isolate(shown)) }),
        onError: (error) => toast(failedToast(words, error)),
      },
    );
  return (
    <>
      <Button
        label={sharing.removeOf(isolate(shown))}
        isPending={remove.isPending}
        onPress={() => setAsking(true)}
      >
        {sharing.remove}
      </Button>
      <Confirm
        title={sharing.removeTitle(isolate(shown))}
        action={sharing.removeAction}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={act}
      >
        <p>{sharing.removeHelp}</p>
      </Confirm>
    </>
  );
}

type Invitation = Output<"members.list">["invitations"][number];

/** Invitations that nobody has accepted yet. */
export function Invitations({ name, invitations }: { name: string; invitations: readonly Invitation[] }) {
  const { sharing } = useWords();
  if (invitations.length === 0) return null;
  return (
    <Card title={sharing.invitations}>
      <List label={sharing.invitations}>
        {invitations.map((invitation) => (
          <InvitationItem key={invitation.id} name={name} invitation={invitation} />
        ))}
      </List>
    </Card>
  );
}

function InvitationItem({ name, invitation }: { name: string; invitation: Invitation }) {
  const { sharing } = useWords();
  const revoke = useAction("members.revoke", ["members.list"]);
  const { id, kind, to, invited_by, created_at, expires_at, may_revoke } = invitation;
  const whom = to === undefined ? sharing.aLink : visible(to);
  return (
    <>
      <ListItem
        isLong
        title={<bdi>{whom}</bdi>}
        details={
          <Stack isTight>
            {kind !== "link" && <div>{sharing.kinds[kind]}</div>}
            <RightList grant={invitation} />
            <div>
              {sharing.invitedBy} <bdi>{visible(invited_by)}</bdi> <Time at={created_at} /> ·{" "}
              {sharing.openUntil} <Time at={expires_at} />
            </div>
          </Stack>
        }
        actions={
          may_revoke && (
            <Button
              label={sharing.revokeOf(isolate(whom))}
              isPending={revoke.isPending}
              onPress={() => revoke.mutate({ name, id })}
            >
              {sharing.revoke}
            </Button>
          )
        }
      />
      <Failure error={revoke.error} />
    </>
  );
}
