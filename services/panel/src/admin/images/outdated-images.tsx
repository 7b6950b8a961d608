import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Output } from "../../api/operations.ts";
import { poll, useAction, useOperation } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Card, Muted } from "../../ui/layout.tsx";
import { Link } from "../../ui/link.tsx";
import { List, ListItem } from "../../ui/list.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { isolate } from "../../words/format.ts";
import { visible } from "../../words/visible.ts";
import { useWords } from "../../words/words.ts";

type Outdated = Output<"images.listOutdated">;

/** What a newer base or a newer image could replace; nothing when all is current. */
export function OutdatedImages() {
  const { images } = useWords();
  const { data, error } = useOperation("images.listOutdated", {}, { every: 5 * poll.list });
  if (!data) return error ? <Muted>{images.outdatedUnknown}</Muted> : null;
  return (
    <>
      {data.images.length > 0 && (
        <Card title={images.rebuildTitle}>
          <Muted>{images.rebuildHelp}</Muted>
          <List label={images.rebuildTitle}>
            {data.images.map((image) => (
              <MovedImage key={image.image_ref} image={image} />
            ))}
          </List>
        </Card>
      )}
      {data.servers.length > 0 && (
        <Card title={images.olderTitle}>
          <Muted>{images.olderHelp}</Muted>
          <List label={images.olderTitle}>
            {data.servers.map((server) => (
              <OlderServer key={`${server.server} ${server.image_ref}`} older={server} />
            ))}
          </List>
        </Card>
      )}
    </>
  );
}

function MovedImage({ image }: { image: Outdated["images"][number] }) {
  const { images } = useWords();
  const navigate = useNavigate();
  const rebuild = useAction("builds.rebuild", ["images.listOutdated", "builds.listBuilds"]);
  const { image_ref, build_id, moved, rebuild: running } = image;
  return (
    <>
      <ListItem
        title={<bdi>{visible(image_ref)}</bdi>}
        details={
          <>
            {images.movedBase} <bdi>{visible(moved.map((base) => base.image_ref).join(", "))}</bdi> ·{" "}
            <Link to={`/admin/builds/${build_id}`}>{images.toBuild}</Link>
          </>
        }
        actions={
          running === undefined ? (
            <Button
              isPending={rebuild.isPending}
              label={images.rebuildOf(isolate(visible(image_ref)))}
              onPress={() =>
                rebuild.mutate(
                  { id: build_id },
                  { onSuccess: ({ id }) => void navigate({ to: `/admin/builds/${id}` }) },
                )
              }
            >
              {images.rebuild}
            </Button>
          ) : (
            <Link to={`/admin/builds/${running}`}>{images.rebuildRuns}</Link>
          )
        }
      />
      <Failure error={rebuild.error} />
    </>
  );
}

function OlderServer({ older }: { older: Outdated["servers"][number] }) {
  const { images } = useWords();
  const toast = useToast();
  const update = useAction("servers.patch", ["images.listOutdated", "servers.viewStatus", "servers.fleet"]);
  const [isAsking, setAsking] = useState(false);
  const { server, image_ref, newest } = older;
  const name = isolate(visible(server));
  const confirm = () =>
    update.mutate(
      { name: server, image: newest, confirmImageChange: true },
      { onSuccess: () => toast({ kind: "done", text: images.updated(name) }) },
    );
  return (
    <>
      <ListItem
        title={<bdi>{visible(server)}</bdi>}
        details={<bdi>{visible(image_ref)}</bdi>}
        actions={
          <Button isPending={update.isPending} label={images.updateOf(name)} onPress={() => setAsking(true)}>
            {images.update}
          </Button>
        }
      />
      <Failure error={update.error} />
      <Confirm
        title={images.updateTitle(name)}
        action={images.updateAction}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={confirm}
      >
        <p>{images.updateConfirm}</p>
        <code>{visible(newest)}</code>
      </Confirm>
    </>
  );
}
