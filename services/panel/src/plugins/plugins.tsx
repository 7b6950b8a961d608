import { useState } from "react";
import { useAccess } from "../access/use-access.ts";
import type { Output } from "../api/operations.ts";
import { useOperation } from "../api/query.ts";
import { OpNotice } from "../files/fetch-notices.tsx";
import { useWatchedOperations } from "../files/use-watched-operations.ts";
import { heldWords, useWorldWork } from "../server/held.ts";
import { Failure } from "../ui/failure.tsx";
import { Field } from "../ui/field.tsx";
import { Muted, Row, Stack } from "../ui/layout.tsx";
import { Loading } from "../ui/loading.tsx";
import { Select } from "../ui/select.tsx";
import { useToast } from "../ui/toasts.tsx";
import { usePluginWords } from "../words/plugin-words.ts";
import { useWords } from "../words/words.ts";
import { Installed } from "./installed.tsx";
import { ProjectSearch } from "./project-search.tsx";
import { type Loader, loaders, targetOf } from "./target.ts";

/** What is installed, and where more is found. Reading it costs a Job. */
export function Plugins({ name }: { name: string }) {
  const query = useOperation("plugins.list", { name }, { isCostly: true });
  const { data, error, refetch } = query;
  return (
    <Stack>
      <InstallNotices name={name} />
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && <Known name={name} listed={data} />}
    </Stack>
  );
}

function InstallNotices({ name }: { name: string }) {
  const words = usePluginWords();
  const toast = useToast();
  const { shown, forget } = useWatchedOperations(name, {
    isMine: ({ from }) => from !== undefined && !from.includes("://"),
    changes: "plugins.list",
    onDone: () => toast({ kind: "done", text: words.done }),
  });
  return shown.map((op) => (
    <OpNotice
      key={op.id}
      op={op}
      running={words.running}
      failed={words.failed}
      onClose={() => forget(op.id)}
    />
  ));
}

type KnownProps = { name: string; listed: Output<"plugins.list"> };

function Known({ name, listed }: KnownProps) {
  const words = usePluginWords();
  const all = useWords();
  const { may } = useAccess();
  const held = heldWords(all, useWorldWork(name));
  const [loader, setLoader] = useState<Loader | "">(listed.loader ?? "");
  const [gameVersion, setGameVersion] = useState(listed.game_version ?? "");
  const target = targetOf(loader, gameVersion);
  const about = { name, target, held, mayWrite: may("files.write") };
  return (
    <>
      <section aria-label={words.runs}>
        <Stack isTight>
          <Row isLow>
            <Select
              label={words.loader}
              value={loader}
              onChange={setLoader}
              options={[...(loader === "" ? ([["", "–"]] as const) : []), ...loaders]}
            />
            <Field
              label={words.gameVersion}
              name="game-version"
              value={gameVersion}
              onChange={setGameVersion}
              maxLength={32}
            />
          </Row>
          <Muted>
            {words.targetHelp} {words.restart}
          </Muted>
        </Stack>
      </section>
      <Installed {...about} listed={listed} />
      {listed.catalogues.length > 0 && <ProjectSearch {...about} catalogues={listed.catalogues} />}
    </>
  );
}
