import { useState } from "react";
import type { Output } from "../api/operations.ts";
import { useAction } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Failure } from "../ui/failure.tsx";
import { Form } from "../ui/form.tsx";
import { Card, Muted, Row, Stack } from "../ui/layout.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { Select } from "../ui/select.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { Time } from "../ui/time.tsx";
import { useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { useKnownPlayerWords } from "../words/known-player-words.ts";
import { visible } from "../words/visible.ts";

type Player = Output<"knownPlayers.read">;
type Note = Player["notes"][number];

const longest = 500;

/** What owners and members noted about a player, and a new note. */
export function Notes({ player }: { player: Player }) {
  const words = useKnownPlayerWords();
  return (
    <Card title={words.notes}>
      <Muted>{words.notesHelp}</Muted>
      {player.notes.length === 0 && <Muted>{words.noNotes}</Muted>}
      {player.notes.length > 0 && (
        <List label={words.notes}>
          {player.notes.map((note) => (
            <NoteItem key={note.id} mcUuid={player.mc_uuid} note={note} />
          ))}
        </List>
      )}
      <NewNote player={player} />
    </Card>
  );
}

function NoteItem({ mcUuid, note }: { mcUuid: string; note: Note }) {
  const words = useKnownPlayerWords();
  const remove = useAction("knownPlayers.removeNote", ["knownPlayers.read"]);
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <ListItem
        title={<bdi>{visible(note.text)}</bdi>}
        details={
          <>
            {words.by(isolate(visible(note.author)), note.server)}, <Time at={note.at} />
          </>
        }
        actions={
          <Button
            isPending={remove.isPending}
            label={words.removeOf(isolate(visible(note.text).slice(0, 40)))}
            onPress={() => setAsking(true)}
          >
            {words.remove}
          </Button>
        }
      />
      <Failure error={remove.error} />
      <Confirm
        title={words.removeTitle}
        action={words.removeAction}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => remove.mutate({ name: note.server, mc_uuid: mcUuid, id: note.id })}
      >
        <p>
          <bdi>{visible(note.text)}</bdi>
        </p>
      </Confirm>
    </>
  );
}

function NewNote({ player }: { player: Player }) {
  const words = useKnownPlayerWords();
  const toast = useToast();
  const add = useAction("knownPlayers.addNote", ["knownPlayers.read"]);
  const servers = player.servers.map(({ server }) => server);
  const [wanted, setWanted] = useState("");
  const server = servers.includes(wanted) ? wanted : (servers[0] ?? "");
  const [text, setText] = useState("");
  const isLong = text.trim().length > longest;
  const whyNot = text.trim() === "" ? words.noteEmpty : isLong ? words.noteLong : undefined;
  const submit = () => {
    if (whyNot !== undefined || add.isPending) return;
    add.mutate(
      { name: server, mc_uuid: player.mc_uuid, text },
      {
        onSuccess: () => {
          setText("");
          toast({ kind: "done", text: words.noted });
        },
      },
    );
  };
  return (
    <Form onSubmit={submit} hasOuterButton>
      <Stack>
        <TextArea
          label={words.note}
          name="note"
          value={text}
          onChange={setText}
          error={isLong ? words.noteLong : undefined}
        />
        <Select
          label={words.noteServer}
          value={server}
          onChange={setWanted}
          options={servers.map((name) => [name, name])}
        />
        <Failure error={add.error} />
        <Row>
          <Button isPending={add.isPending} whyNot={whyNot} onPress={submit}>
            {words.addNote}
          </Button>
        </Row>
      </Stack>
    </Form>
  );
}
