import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { RightList } from "../access/right-list.tsx";
import { useAccess } from "../access/use-access.ts";
import { poll, useAction, useOperation } from "../api/query.ts";
import { ServerFrame, type ServerInFrame } from "../server/server-frame.tsx";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Muted, Row, Stack } from "../ui/layout.tsx";
import { Loading } from "../ui/loading.tsx";
import { NotFoundPage } from "../ui/not-found-page.tsx";
import { useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";
import { InviteDialog } from "./invite-dialog.tsx";
import { Invitations, Members } from "./members.tsx";

/** Whom a server is shared with, and what the reader's own access is. */
export function Page() {
  const { sharing } = useWords();
  return (
    <ServerFrame section={sharing.title}>
      {(server) =>
        server.isManaged ? <Sharing key={server.name} {...server} /> : <NotFoundPage title={sharing.title} />
      }
    </ServerFrame>
  );
}

function Sharing({ name }: ServerInFrame) {
  const { as, may } = useAccess();
  return (
    <Stack>
      {as === "member" && <OwnAccess name={name} />}
      {may("invite") && <Shared name={name} mayInvite={as !== "staff"} />}
    </Stack>
  );
}

function Shared({ name, mayInvite }: { name: string; mayInvite: boolean }) {
  const { sharing } = useWords();
  const { data, error, refetch } = useOperation("members.list", { name }, { every: poll.list });
  const [isInviting, setInviting] = useState(false);
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  const { members, invitations, limits } = data;
  const isFull = members.length >= limits.members || invitations.length >= limits.invitations;
  const whyNot = isFull ? sharing.full(limits.members, limits.invitations) : undefined;
  return (
    <>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {mayInvite && (
        <Row isSpread>
          <Muted>{sharing.about}</Muted>
          <Button kind="primary" whyNot={whyNot} onPress={() => setInviting(true)}>
            {sharing.invite}
          </Button>
        </Row>
      )}
      {whyNot !== undefined && <Muted>{whyNot}</Muted>}
      <Members {...{ name, members, mayInvite }} />
      <Invitations name={name} invitations={invitations} />
      {isInviting && <InviteDialog name={name} onClose={() => setInviting(false)} />}
    </>
  );
}

/** What the server is shared with the reader for, and the way out. */
function OwnAccess({ name }: { name: string }) {
  const { sharing } = useWords();
  const toast = useToast();
  const navigate = useNavigate();
  const { data } = useOperation("members.readMine", { name });
  const leave = useAction("members.leave", ["ownership.listMine", "servers.viewStatus"]);
  const [isAsking, setAsking] = useState(false);
  const act = () =>
    leave.mutate(
      { name },
      {
        onSuccess: () => {
          toast({ kind: "done", text: sharing.left(isolate(name)) });
          void navigate({ to: "/servers", ignoreBlocker: true });
        },
      },
    );
  return (
    <Card title={sharing.yours}>
      {data && <RightList grant={data} />}
      <Failure error={leave.error} />
      <Row>
        <Button isPending={leave.isPending} onPress={() => setAsking(true)}>
          {sharing.leave}
        </Button>
      </Row>
      <Confirm
        title={sharing.leaveTitle(isolate(name))}
        action={sharing.leave}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={act}
      >
        <p>{sharing.leaveHelp}</p>
      </Confirm>
    </Card>
  );
}
