import { poll, useOperation } from "../api/query.ts";
import { Stack } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { Notice } from "../ui/notice.tsx";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";

/** Invitations that are addressed to the reader. */
export function OffersNotice() {
  const { sharing } = useWords();
  const { data } = useOperation("members.listOffers", {}, { every: poll.history });
  if (!data || data.invitations.length === 0) return null;
  return (
    <Stack isTight>
      {data.invitations.map(({ id, invited_by, server }) => (
        <Notice
          key={id}
          kind="waiting"
          actions={
            <Link to="/invitations" looks="button">
              {sharing.toInvitation}
            </Link>
          }
        >
          {sharing.invitedYou(isolate(visible(invited_by)), isolate(server))}
        </Notice>
      ))}
    </Stack>
  );
}
