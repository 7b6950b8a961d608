import { useState } from "react";
import { LinkedPlayer } from "../../account/linked-player.tsx";
import { useAction } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Copied } from "../../ui/copied.tsx";
import { Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Card, Grow, Muted, Row } from "../../ui/layout.tsx";
import { List } from "../../ui/list.tsx";
import { Select } from "../../ui/select.tsx";
import { faultWords } from "../../words/faults.ts";
import { useWords } from "../../words/words.ts";
import type { UserDetail } from "./users-view.ts";

type Link = NonNullable<UserDetail["linked_accounts"]>[number];

/** The players that join as a user. */
export function UserPlayers({ user }: { user: UserDetail }) {
  const { account, users } = useWords();
  const links = user.linked_accounts ?? [];
  return (
    <Card title={account.players}>
      {links.length === 0 ? (
        <Muted>{users.noPlayers}</Muted>
      ) : (
        <List label={account.players}>
          {links.map((link) => (
            <PlayerItem key={link.mc_uuid} id={user.id} link={link} />
          ))}
        </List>
      )}
      <AddPlayer id={user.id} />
    </Card>
  );
}

function PlayerItem({ id, link }: { id: string; link: Link }) {
  const { users } = useWords();
  const unlink = useAction("users.removeLink", ["users.read"]);
  const { mc_uuid, auth_source } = link;
  const isKnown = auth_source === "mojang" || auth_source === "thirdparty";
  return (
    <LinkedPlayer
      link={link}
      title={<Copied text={mc_uuid} what={users.playerId} />}
      source={`${isKnown ? users.sources[auth_source] : auth_source} · `}
      help={users.unlinkHelp}
      unlink={{ ...unlink, run: () => unlink.mutate({ id, mc_uuid }) }}
    />
  );
}

const sources = ["mojang", "thirdparty"] as const;

function AddPlayer({ id }: { id: string }) {
  const words = useWords();
  const { users } = words;
  const add = useAction("users.addLink", ["users.read"]);
  const [uuid, setUuid] = useState("");
  const [source, setSource] = useState<(typeof sources)[number]>("mojang");
  const submit = () => {
    if (uuid === "" || add.isPending) return;
    add.mutate({ id, mc_uuid: uuid, auth_source: source }, { onSuccess: () => setUuid("") });
  };
  return (
    <Form onSubmit={submit}>
      <Row isLow>
        <Grow>
          <Field
            label={users.playerId}
            name="player"
            value={uuid}
            onChange={(typed) => setUuid(typed.trim())}
            error={add.error ? faultWords(words, add.error) : undefined}
            maxLength={36}
          />
        </Grow>
        <Select
          label={users.source}
          value={source}
          onChange={setSource}
          options={sources.map((one) => [one, users.sources[one]])}
        />
        <Button type="submit" isPending={add.isPending} whyNot={uuid === "" ? words.shell.fillIn : undefined}>
          {users.addPlayer}
        </Button>
      </Row>
    </Form>
  );
}
