import { useState } from "react";
import type { Output } from "../api/operations.ts";
import { poll, useAction, useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Checkbox } from "../ui/checkbox.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Muted, Row, Stack } from "../ui/layout.tsx";
import { List, ListItem } from "../ui/list.tsx";
import type { KnownPlayerWords } from "../words/en/known-players.ts";
import { faultWords } from "../words/faults.ts";
import { isolate } from "../words/format.ts";
import { useKnownPlayerWords } from "../words/known-player-words.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";

type Player = Output<"knownPlayers.read">;
type Change = Output<"knownPlayers.changeAccess">;
type State = Output<"knownPlayers.readAccess">["servers"][number];

const acts = ["ban", "pardon", "whitelist-add", "whitelist-remove"] as const;
/** Servers that one request may name. */
const mostServers = 50;

/** One ban, or one change of the whitelist, on the servers that are chosen. */
export function Access({ player }: { player: Player }) {
  const words = useKnownPlayerWords();
  const { mc_uuid } = player;
  const states = useOperation("knownPlayers.readAccess", { mc_uuid }, { every: poll.list });
  const change = useAction("knownPlayers.changeAccess", ["knownPlayers.readAccess"]);
  const names = namesOf(player, states.data?.servers ?? []);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [asked, setAsked] = useState<(typeof acts)[number]>();
  const chosen = names.filter((name) => !left.has(name)).slice(0, mostServers);
  const choose = (name: string, isChosen: boolean) => {
    const next = new Set(left);
    if (isChosen) next.delete(name);
    else next.add(name);
    setLeft(next);
  };
  return (
    <Card title={words.access}>
      <Muted>{words.accessHelp}</Muted>
      <fieldset aria-label={words.chosen}>
        <Stack isTight>
          {names.map((name) => (
            <Checkbox
              key={name}
              label={name}
              isChecked={chosen.includes(name)}
              onChange={(isChosen) => choose(name, isChosen)}
            />
          ))}
        </Stack>
      </fieldset>
      <Row>
        {acts.map((act) => (
          <Button
            key={act}
            isPending={change.isPending}
            whyNot={chosen.length === 0 ? words.chooseOne : undefined}
            onPress={() => setAsked(act)}
          >
            {words.acts[act]}
          </Button>
        ))}
      </Row>
      <Failure error={change.error} />
      {change.data && <Results change={change.data} />}
      <States states={states.data?.servers} />
      <Confirm
        title={asked ? words.sure[asked](isolate(visible(player.name)), chosen.length) : ""}
        action={asked ? words.acts[asked] : ""}
        isOpen={asked !== undefined}
        onClose={() => setAsked(undefined)}
        onConfirm={() => asked && change.mutate({ mc_uuid, action: asked, servers: chosen })}
      >
        <p>{words.sureHelp}</p>
      </Confirm>
    </Card>
  );
}

/** Where the player was, and the running servers that could ban the player before the first visit. */
function namesOf({ servers }: Player, states: readonly State[]): string[] {
  return [...new Set([...servers.map(({ server }) => server), ...states.map(({ server }) => server)])];
}

function Results({ change }: { change: Change }) {
  const words = useKnownPlayerWords();
  const all = useWords();
  return (
    <div role="status">
      <List label={words.results}>
        {change.results.map(({ server, output = "", error }) => (
          <ListItem
            key={server}
            title={server}
            details={
              error ? faultWords(all, error) : output === "" ? words.done : <bdi>{visible(output)}</bdi>
            }
          />
        ))}
      </List>
    </div>
  );
}

function States({ states }: { states: readonly State[] | undefined }) {
  const words = useKnownPlayerWords();
  const all = useWords();
  if (!states) return null;
  if (states.length === 0) return <Muted>{words.noStates}</Muted>;
  return (
    <List label={words.states}>
      {states.map((state) => (
        <ListItem
          key={state.server}
          title={state.server}
          details={state.error ? faultWords(all, state.error) : stateOf(words, state)}
        />
      ))}
    </List>
  );
}

function stateOf(words: KnownPlayerWords, { banned, whitelisted }: State): string {
  const said = [...(banned ? [words.banned] : []), ...(whitelisted ? [words.whitelisted] : [])];
  return said.length === 0 ? words.neither : said.join(", ");
}
