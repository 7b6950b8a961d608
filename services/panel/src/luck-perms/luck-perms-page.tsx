import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { poll, useOperation } from "../api/query.ts";
import { isPlayerName } from "../players/player-names.ts";
import { ServerFrame, type ServerInFrame } from "../server/server-frame.tsx";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Card, Grow, Muted, Row, Stack } from "../ui/layout.tsx";
import { NotFoundPage } from "../ui/not-found-page.tsx";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { PlayerRights } from "./player-rights.tsx";

/** What LuckPerms lets a player do on a server. */
export function Page() {
  const { luckPerms } = useWords();
  return (
    <ServerFrame section={luckPerms.title} needs={["players"]}>
      {(server) =>
        server.isManaged ? (
          <LuckPerms key={server.name} {...server} />
        ) : (
          <NotFoundPage title={luckPerms.title} />
        )
      }
    </ServerFrame>
  );
}

function LuckPerms({ name, status }: ServerInFrame) {
  const { luckPerms, players } = useWords();
  const { player: given } = useSearch({ strict: false }) as { player?: unknown };
  const player = String(given ?? "");
  if (status.phase !== "Running") return <Empty title={players.asleep}>{luckPerms.asleepHelp}</Empty>;
  return (
    <Stack>
      <ChoosePlayer key={player} name={name} player={player} />
      {isPlayerName(player) && <PlayerRights key={`of ${player}`} name={name} player={player} />}
    </Stack>
  );
}

function ChoosePlayer({ name, player }: { name: string; player: string }) {
  const { luckPerms, players } = useWords();
  const navigate = useNavigate();
  const online = useOperation("consoles.listPlayers", { name }, { every: poll.status });
  const [typed, setTyped] = useState(player);
  const [isWrong, setWrong] = useState(player !== "" && !isPlayerName(player));
  const show = (next: string) =>
    void navigate({ to: `/servers/${name}/luckperms`, search: { player: next } });
  const submit = () => {
    const wanted = typed.trim();
    setWrong(!isPlayerName(wanted));
    if (isPlayerName(wanted)) show(wanted);
  };
  const others = (online.data?.players ?? []).filter((one) => one !== player && isPlayerName(one));
  return (
    <Card title={luckPerms.choose}>
      <Muted>{luckPerms.chooseHelp}</Muted>
      <Form onSubmit={submit}>
        <Row isLow>
          <Grow>
            <Field
              label={luckPerms.player}
              name="player"
              value={typed}
              onChange={setTyped}
              error={isWrong ? players.invalid(isolate(typed.trim())) : undefined}
            />
          </Grow>
          <Button type="submit" kind="primary">
            {luckPerms.show}
          </Button>
        </Row>
      </Form>
      {others.length > 0 && (
        <Row>
          <Muted>{luckPerms.online}</Muted>
          {others.slice(0, 12).map((one) => (
            <Button key={one} onPress={() => show(one)}>
              <bdi>{visible(one)}</bdi>
            </Button>
          ))}
        </Row>
      )}
    </Card>
  );
}
