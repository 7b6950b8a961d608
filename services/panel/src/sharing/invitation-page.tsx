import { useEffect, useState } from "react";
import { useAction, useOperation } from "../api/query.ts";
import { useMe } from "../api/session.ts";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Muted, Stack } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page as PageFrame } from "../ui/page.tsx";
import { useWords } from "../words/words.ts";
import { takeSecret } from "./link-secret.ts";
import { Offer } from "./offer.tsx";

/** What the link of an invitation opens; without one, the invitations that are addressed to the reader. */
export function Page() {
  const { sharing } = useWords();
  const me = useMe();
  const [secret] = useState(takeSecret);
  return (
    <PageFrame title={sharing.invitationTitle} isNarrow>
      {me.isPending && <Loading />}
      {me.data === undefined && me.error && <Failure error={me.error} retry={() => void me.refetch()} />}
      {me.data === null && <SignInFirst />}
      {me.data && (secret === undefined ? <Addressed /> : <ByLink secret={secret} />)}
    </PageFrame>
  );
}

function SignInFirst() {
  const { sharing } = useWords();
  return (
    <Stack>
      <p>{sharing.signInFirst}</p>
      <Link to="/login" search={{ next: "/invitations" }} looks="primary">
        {sharing.signIn}
      </Link>
    </Stack>
  );
}

function ByLink({ secret }: { secret: string }) {
  const look = useAction("members.look");
  const { mutate } = look;
  useEffect(() => mutate({ secret }), [mutate, secret]);
  if (look.error) {
    const isOver = look.error.status === 404 || look.error.status === 410;
    return <Failure error={look.error} {...(!isOver && { retry: () => mutate({ secret }) })} />;
  }
  if (!look.data) return <Loading />;
  return (
    <Card title={look.data.server}>
      <Offer offer={look.data} which={{ secret }} />
    </Card>
  );
}

function Addressed() {
  const { sharing } = useWords();
  const { data, error, refetch } = useOperation("members.listOffers", {});
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  if (data.invitations.length === 0)
    return <Empty title={sharing.noInvitation}>{sharing.noInvitationHelp}</Empty>;
  return (
    <Stack>
      <Muted>{sharing.addressed}</Muted>
      {data.invitations.map((offer) => (
        <Card key={offer.id} title={offer.server}>
          <Offer offer={offer} which={{ id: offer.id }} />
        </Card>
      ))}
    </Stack>
  );
}
