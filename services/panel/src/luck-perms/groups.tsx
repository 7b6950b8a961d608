import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Card, Grow, Muted, Row } from "../ui/layout.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { badFieldsOf, type Change } from "./rights.ts";
import type { RightsChange } from "./use-change.ts";

type GroupsProps = { groups: readonly string[]; player: string; change: RightsChange };

/** The groups that a player belongs to itself. */
export function Groups({ groups, player, change }: GroupsProps) {
  const { luckPerms, players } = useWords();
  const toast = useToast();
  const leave = async (group: string) => {
    const isDone = await change.run({ kind: "group", action: "remove", group });
    const undo = {
      word: players.undo,
      run: () => void change.run({ kind: "group", action: "add", group }),
    };
    if (isDone) toast({ kind: "done", text: luckPerms.left(isolate(player), isolate(group)), action: undo });
  };
  return (
    <Card title={luckPerms.groups}>
      <Muted>{luckPerms.groupsHelp}</Muted>
      {groups.length === 0 && <Muted>{luckPerms.noGroups}</Muted>}
      {groups.length > 0 && (
        <List label={luckPerms.groups}>
          {groups.map((group) => (
            <ListItem
              key={group}
              title={<bdi>{visible(group)}</bdi>}
              actions={
                <Button
                  isPending={change.isPending}
                  label={luckPerms.removeOf(isolate(group))}
                  onPress={() => void leave(group)}
                >
                  {players.remove}
                </Button>
              }
            />
          ))}
        </List>
      )}
      <AddGroup change={change} />
    </Card>
  );
}

function AddGroup({ change }: { change: RightsChange }) {
  const { luckPerms, players, shell } = useWords();
  const [group, setGroup] = useState("");
  const [isWrong, setWrong] = useState(false);
  const add = async () => {
    const wanted: Change = { kind: "group", action: "add", group: group.trim() };
    const isBad = badFieldsOf(wanted).length > 0;
    setWrong(isBad);
    if (!isBad && (await change.run(wanted))) setGroup("");
  };
  return (
    <Form onSubmit={() => void add()}>
      <Row isLow>
        <Grow>
          <Field
            label={luckPerms.addGroup}
            name="group"
            value={group}
            onChange={setGroup}
            error={isWrong ? luckPerms.badGroup : undefined}
          />
        </Grow>
        <Button
          type="submit"
          isPending={change.isPending}
          whyNot={group.trim() === "" ? shell.fillIn : undefined}
        >
          {players.add}
        </Button>
      </Row>
    </Form>
  );
}
