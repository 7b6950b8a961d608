import { type ReactNode, useState } from "react";
import type { ApiError } from "../api/error.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Failure } from "../ui/failure.tsx";
import { ListItem } from "../ui/list.tsx";
import { Time } from "../ui/time.tsx";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";

type LinkedPlayerProps = {
  link: { mc_uuid: string; verified_at: string };
  title: ReactNode;
  /** Stands before the time of linking. */
  source?: ReactNode;
  /** What unlinking costs. */
  help: string;
  /** Stands before the button that unlinks. */
  more?: ReactNode;
  unlink: { isPending: boolean; error: ApiError | null; run: () => void };
};

/** A player of an account, with the way to unlink it. */
export function LinkedPlayer({ link, title, source, help, more, unlink }: LinkedPlayerProps) {
  const { account } = useWords();
  const [isAsking, setAsking] = useState(false);
  const player = isolate(link.mc_uuid);
  return (
    <>
      <ListItem
        title={title}
        details={
          <>
            {source}
            {account.linkedSince} <Time at={link.verified_at} />
          </>
        }
        actions={
          <>
            {more}
            <Button
              isPending={unlink.isPending}
              label={account.unlinkOf(player)}
              onPress={() => setAsking(true)}
            >
              {account.unlink}
            </Button>
          </>
        }
      />
      <Failure error={unlink.error} />
      <Confirm
        title={account.unlinkTitle(player)}
        action={account.unlinkAction}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={unlink.run}
      >
        <p>{help}</p>
      </Confirm>
    </>
  );
}
