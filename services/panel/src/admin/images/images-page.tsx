import { useState } from "react";
import type { Output } from "../../api/operations.ts";
import { poll, useAction, useOperation } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Copied } from "../../ui/copied.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Card, Grow, Muted, Row } from "../../ui/layout.tsx";
import { Link } from "../../ui/link.tsx";
import { List, ListItem } from "../../ui/list.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page as PageFrame } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { faultWords } from "../../words/faults.ts";
import { isolate } from "../../words/format.ts";
import { visible } from "../../words/visible.ts";
import { useWords } from "../../words/words.ts";
import { totalOf } from "../builds/findings.ts";
import { OutdatedImages } from "./outdated-images.tsx";

type Image = Output<"images.listImages">["items"][number];

/** The images that servers may use. */
export function Page() {
  const { images } = useWords();
  const { data, error, refetch } = useOperation("images.listImages", {}, { every: poll.list });
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  return (
    <PageFrame title={images.title}>
      <AddImage />
      <FlaggedImages />
      <OutdatedImages />
      {data.items.length === 0 ? (
        <Empty title={images.none}>{images.noneHelp}</Empty>
      ) : (
        <Card title={images.allowed}>
          <List label={images.allowed}>
            {data.items.map((image) => (
              <ImageItem key={image.image_ref} image={image} />
            ))}
          </List>
        </Card>
      )}
    </PageFrame>
  );
}

/** Allowed and used images that the policy blocks by now; nothing when there are none. */
function FlaggedImages() {
  const { images } = useWords();
  const { data } = useOperation("images.listFlagged", {}, { every: poll.list });
  if (!data || data.items.length === 0) return null;
  return (
    <Card title={images.flaggedTitle}>
      <Muted>{images.flaggedHelp}</Muted>
      <List label={images.flaggedTitle}>
        {data.items.map(({ image_ref, build_id, scanned_at, blocking_counts }) => (
          <ListItem
            key={image_ref}
            title={<Copied text={image_ref} what={images.ref} />}
            details={
              <>
                {images.flaggedCount(totalOf(blocking_counts))} ·{" "}
                <Link to={`/admin/builds/${build_id}`}>{images.toScan}</Link> <Time at={scanned_at} />
              </>
            }
          />
        ))}
      </List>
    </Card>
  );
}

function AddImage() {
  const words = useWords();
  const { images } = words;
  const toast = useToast();
  const add = useAction("images.addImage", ["images.listImages"]);
  const [ref, setRef] = useState("");
  const added = ({ image_ref }: Image) => {
    setRef("");
    toast({ kind: "done", text: images.added(isolate(image_ref)) });
  };
  const submit = () => {
    if (ref !== "" && !add.isPending) add.mutate({ image_ref: ref }, { onSuccess: added });
  };
  const refused = add.error?.code === "bad_request" ? images.badRef : undefined;
  const problem = refused ?? (add.error ? faultWords(words, add.error) : undefined);
  return (
    <Card title={images.add}>
      <Form onSubmit={submit}>
        <Row isLow>
          <Grow>
            <Field
              label={images.ref}
              name="image"
              value={ref}
              onChange={(typed) => setRef(typed.trim())}
              error={problem}
              maxLength={512}
            />
          </Grow>
          <Button
            type="submit"
            kind="primary"
            isPending={add.isPending}
            whyNot={ref === "" ? words.shell.fillIn : undefined}
          >
            {images.addAction}
          </Button>
        </Row>
      </Form>
      <Muted>{images.addHelp}</Muted>
    </Card>
  );
}

function ImageItem({ image }: { image: Image }) {
  const { images } = useWords();
  const remove = useAction("images.removeImage", ["images.listImages"]);
  const [isAsking, setAsking] = useState(false);
  const { image_ref: ref, source, added_by, added_at, enabled, build_id, scan } = image;
  return (
    <>
      <ListItem
        isLong
        title={
          <Row>
            <Copied text={ref} what={images.ref} />
            {!enabled && <Status look="unknown" word={images.disabled} />}
            {scan?.blocked && <Status look="failed" word={images.flagged} />}
          </Row>
        }
        details={
          <>
            {images.sources[source]} · <bdi>{visible(added_by)}</bdi> · <Time at={added_at} />
            {build_id !== undefined && (
              <>
                {" · "}
                <Link to={`/admin/builds/${build_id}`}>{images.toBuild}</Link>
              </>
            )}
            {scan !== undefined && scan.build_id !== build_id && (
              <>
                {" · "}
                <Link to={`/admin/builds/${scan.build_id}`}>{images.toScan}</Link>{" "}
                <Time at={scan.scanned_at} />
              </>
            )}
            {!enabled && <div>{images.notEnabled}</div>}
          </>
        }
        actions={
          <Button
            isPending={remove.isPending}
            label={images.removeOf(isolate(ref))}
            onPress={() => setAsking(true)}
          >
            {images.remove}
          </Button>
        }
      />
      <Failure error={remove.error} />
      <Confirm
        title={images.removeTitle(isolate(ref))}
        action={images.removeAction}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => remove.mutate({ ref })}
      >
        <p>{images.removeHelp}</p>
      </Confirm>
    </>
  );
}
