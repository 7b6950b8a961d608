import { useQueryClient } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import type { Output } from "../api/operations.ts";
import { useAction, useOperation } from "../api/query.ts";
import { OwnData } from "../known-players/own-data.tsx";
import { LinkPlayer } from "../sign-in/link-player.tsx";
import { Button } from "../ui/button.tsx";
import { Copied } from "../ui/copied.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Muted, Row } from "../ui/layout.tsx";
import { List } from "../ui/list.tsx";
import { Loading } from "../ui/loading.tsx";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";
import { LinkedPlayer } from "./linked-player.tsx";

type Link = Output<"links.listOwn">["links"][number];

/** The players that join as the caller. */
export function Players() {
  const { account } = useWords();
  const client = useQueryClient();
  const [isLinking, setLinking] = useState(false);
  const { data, error, refetch } = useOperation("links.listOwn", {});
  const linked = () => void client.invalidateQueries({ queryKey: ["links.listOwn"] });
  return (
    <Card title={account.players}>
      {!data && (error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />)}
      {data?.links.length === 0 && <Muted>{account.noPlayers}</Muted>}
      {data && data.links.length > 0 && (
        <List label={account.players}>
          {data.links.map((link) => (
            <PlayerItem key={link.mc_uuid} link={link} />
          ))}
        </List>
      )}
      {isLinking ? (
        <LinkPlayer onDone={linked} />
      ) : (
        <Row>
          <Button onPress={() => setLinking(true)}>{account.linkAnother}</Button>
        </Row>
      )}
    </Card>
  );
}

function PlayerItem({ link }: { link: Link }) {
  const { account, users } = useWords();
  const unlink = useAction("links.removeOwn", ["links.listOwn", "accounts.listSessions"]);
  const { mc_uuid } = link;
  const [isShown, setShown] = useState(false);
  return (
    <>
      <LinkedPlayer
        link={link}
        title={<Copied text={mc_uuid} what={users.playerId} />}
        help={account.unlinkHelp}
        more={
          <Button label={account.keptOf(isolate(mc_uuid))} onPress={() => setShown(true)}>
            {account.kept}
          </Button>
        }
        unlink={{ ...unlink, run: () => unlink.mutate({ mc_uuid }) }}
      />
      {isShown && (
        <Suspense>
          <OwnData mcUuid={mc_uuid} onClose={() => setShown(false)} />
        </Suspense>
      )}
    </>
  );
}
