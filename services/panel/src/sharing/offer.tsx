import { useNavigate } from "@tanstack/react-router";
import { RightList } from "../access/right-list.tsx";
import type { Output } from "../api/operations.ts";
import { useAction } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Failure } from "../ui/failure.tsx";
import { Row } from "../ui/layout.tsx";
import { Time } from "../ui/time.tsx";
import { useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";

type Offered = Output<"members.look">;
/** How an invitation is named to the service: by its id where it is addressed to the reader, else by its secret. */
type Which = { id: string } | { secret: string };

const changed = ["members.listOffers", "ownership.listMine", "members.look"] as const;

/** What an invitation offers, and the answer to it. */
export function Offer({ offer, which }: { offer: Offered; which: Which }) {
  const { sharing } = useWords();
  const toast = useToast();
  const navigate = useNavigate();
  const accept = useAction("members.accept", changed);
  const decline = useAction("members.decline", changed);
  const { server, invited_by, expires_at } = offer;
  const accepted = () => {
    toast({ kind: "done", text: sharing.accepted(isolate(server)) });
    void navigate({ to: `/servers/${server}`, ignoreBlocker: true });
  };
  const declined = () => {
    toast({ kind: "done", text: sharing.declined(isolate(server)) });
    void navigate({ to: "/", ignoreBlocker: true });
  };
  return (
    <>
      <p>{sharing.offered(isolate(visible(invited_by)), isolate(server))}</p>
      <RightList grant={offer} />
      <div>
        {sharing.openUntil} <Time at={expires_at} />
      </div>
      <Failure error={accept.error ?? decline.error} />
      <Row>
        <Button
          kind="primary"
          label={sharing.acceptOf(isolate(server))}
          isPending={accept.isPending}
          onPress={() => accept.mutate(which, { onSuccess: accepted })}
        >
          {sharing.accept}
        </Button>
        <Button
          label={sharing.declineOf(isolate(server))}
          isPending={decline.isPending}
          onPress={() => decline.mutate(which, { onSuccess: declined })}
        >
          {sharing.decline}
        </Button>
      </Row>
    </>
  );
}
