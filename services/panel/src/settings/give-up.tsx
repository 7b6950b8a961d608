import { useState } from "react";
import { useAction } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Muted, Row } from "../ui/layout.tsx";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";

const changed = ["servers.viewStatus", "ownership.listMine", "servers.fleet"] as const;

/** Gives a server up, or deletes it; until it is done a banner offers to keep it. */
export function GiveUp({ name, isStaff }: { name: string; isStaff: boolean }) {
  const { settings } = useWords();
  const retire = useAction("ownership.retire", changed);
  const [asked, setAsked] = useState<"give-up" | "delete">();
  const isDelete = asked === "delete";
  const act = () => retire.mutate({ name, confirm: name, ...(isDelete && { delete: true }) });
  const shown = isolate(name);
  return (
    <Card title={settings.leave}>
      <Muted>{isStaff ? settings.leaveHelpStaff : settings.leaveHelp}</Muted>
      <Failure error={retire.error} />
      <Row>
        <Button kind="danger" isPending={retire.isPending} onPress={() => setAsked("give-up")}>
          {settings.giveUp}
        </Button>
        {isStaff && (
          <Button kind="danger" isPending={retire.isPending} onPress={() => setAsked("delete")}>
            {settings.remove}
          </Button>
        )}
      </Row>
      <Confirm
        title={isDelete ? settings.removeTitle(shown) : settings.giveUpTitle(shown)}
        action={isDelete ? settings.remove : settings.giveUp}
        isOpen={asked !== undefined}
        onClose={() => setAsked(undefined)}
        onConfirm={act}
        typed={name}
      >
        <p>{isDelete ? settings.removeHelp : settings.giveUpHelp}</p>
      </Confirm>
    </Card>
  );
}
