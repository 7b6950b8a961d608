import { RotateCw, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Output } from "../api/operations.ts";
import { useAction, useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Disclosure, Preformatted } from "../ui/disclosure.tsx";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Row, Stack } from "../ui/layout.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { Notice } from "../ui/notice.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { formatBytes, isolate } from "../words/format.ts";
import { usePluginWords } from "../words/plugin-words.ts";
import { visible } from "../words/visible.ts";
import { useLanguage, useWords } from "../words/words.ts";
import { InstallDialog } from "./install-dialog.tsx";
import type { Target } from "./target.ts";

type File = Output<"plugins.list">["files"][number];
type Update = Output<"plugins.updates">["updates"][number];

type InstalledProps = {
  name: string;
  target: Target | undefined;
  held: string | undefined;
  mayWrite: boolean;
  listed: Output<"plugins.list">;
};

export function Installed({ name, target, held, mayWrite, listed }: InstalledProps) {
  const words = usePluginWords();
  const [isAsked, setAsked] = useState(false);
  const about = { name, loader: target?.loader ?? "paper", game_version: target?.game_version ?? "" };
  const query = useOperation("plugins.updates", about, {
    enabled: isAsked && target !== undefined,
    isCostly: true,
  });
  const { data, error, isFetching, refetch } = query;
  const { files, truncated } = listed;
  const look = () => {
    if (isAsked) void refetch();
    else setAsked(true);
  };
  return (
    <section aria-labelledby="plugins-installed">
      <Stack>
        <Row isSpread>
          <h2 id="plugins-installed">{words.installed}</h2>
          {files.some(({ record }) => record) && (
            <Button
              icon={<RotateCw size={16} aria-hidden />}
              isPending={isFetching}
              whyNot={target ? undefined : words.choose}
              onPress={look}
            >
              {words.updates}
            </Button>
          )}
        </Row>
        {truncated && <Notice kind="waiting">{words.truncated}</Notice>}
        {error && isAsked && <Failure error={error} retry={() => void refetch()} />}
        {data && isAsked && data.updates.length === 0 && <p role="status">{words.upToDate}</p>}
        {data && data.unknown.length > 0 && <Notice>{words.unknown(data.unknown.length)}</Notice>}
        {files.length === 0 ? (
          <Empty title={words.none}>{words.noneHelp}</Empty>
        ) : (
          <Card>
            <List label={words.installed}>
              {files.map((file) => (
                <Item
                  key={file.path}
                  {...{ name, target, held, mayWrite, file }}
                  update={data?.updates.find(({ path }) => path === file.path)}
                />
              ))}
            </List>
          </Card>
        )}
      </Stack>
    </section>
  );
}

type ItemProps = Omit<InstalledProps, "listed"> & { file: File; update: Update | undefined };

function Item({ name, target, held, mayWrite, file, update }: ItemProps) {
  const words = usePluginWords();
  const { language } = useLanguage();
  const [isUpdating, setUpdating] = useState(false);
  const { path, size, state, record } = file;
  const title = record ? `${record.title} ${record.version_name}` : path;
  const details = [
    ...(record ? [visible(path), words.sources[record.source]] : []),
    ...(state === "missing" ? [] : [formatBytes(size, language)]),
    words.states[state],
  ];
  return (
    <ListItem
      isLong
      title={<bdi>{visible(title)}</bdi>}
      details={details.join(" · ")}
      actions={
        mayWrite && (
          <Row>
            {update && (
              <Button kind="primary" whyNot={held} onPress={() => setUpdating(true)}>
                {words.updateTo(visible(update.version.name))}
              </Button>
            )}
            <Remove name={name} file={file} held={held} />
          </Row>
        )
      }
      below={
        <>
          {update && update.version.changelog !== "" && (
            <Disclosure summary={words.news(visible(update.version.name))}>
              <Preformatted label={words.news(visible(update.version.name))}>
                {visible(update.version.changelog)}
              </Preformatted>
            </Disclosure>
          )}
          {update && record && target && isUpdating && (
            <InstallDialog
              name={name}
              target={target}
              project={{ source: update.source, id: update.project, title: record.title }}
              first={update.version.id}
              onClose={() => setUpdating(false)}
            />
          )}
        </>
      }
    />
  );
}

function Remove({ name, file, held }: { name: string; file: File; held: string | undefined }) {
  const words = usePluginWords();
  const all = useWords();
  const toast = useToast();
  const [isOpen, setOpen] = useState(false);
  const act = useAction("plugins.remove", ["plugins.list"]);
  const { path, sha256 } = file;
  const shown = isolate(visible(path));
  const remove = () =>
    void act.mutateAsync({ name, path, ...(sha256 !== null && { expect_sha256: sha256 }) }).then(
      () => toast({ kind: "done", text: words.removed(shown) }),
      (error) => toast(failedToast(all, error)),
    );
  return (
    <>
      <Button
        kind="quiet"
        icon={<Trash2 size={16} aria-hidden />}
        label={words.removeOf(shown)}
        isPending={act.isPending}
        whyNot={held}
        onPress={() => setOpen(true)}
      >
        {words.remove}
      </Button>
      <Confirm
        title={words.removeTitle(shown)}
        action={words.remove}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={remove}
      >
        <p>{words.removeHelp}</p>
      </Confirm>
    </>
  );
}
