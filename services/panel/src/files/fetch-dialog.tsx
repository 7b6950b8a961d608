import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Output } from "../api/operations.ts";
import { useAction } from "../api/query.ts";
import { Checkbox } from "../ui/checkbox.tsx";
import { Field } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Stack } from "../ui/layout.tsx";
import { useFileWords } from "../words/file-words.ts";
import { useWords } from "../words/words.ts";
import { fetchedNameOf, whyNoFetch } from "./fetch-choice.ts";
import { joinPath } from "./path.ts";

type FetchDialogProps = { name: string; folder: string; onClose: () => void };

/** Fetches a file from an address into a folder. */
export function FetchDialog({ name, folder, onClose }: FetchDialogProps) {
  const { files } = useWords();
  const { fetch } = useFileWords();
  const client = useQueryClient();
  const act = useAction("files.fetch");
  const [url, setUrl] = useState("");
  const [typed, setTyped] = useState<string>();
  const [sha256, setSha256] = useState("");
  const [overwrite, setOverwrite] = useState(false);
  const [isTried, setTried] = useState(false);
  const target = typed ?? fetchedNameOf(url);
  const why = whyNoFetch({ url, name: target, sha256 });
  const faultOf = (field: typeof why) =>
    isTried && field !== undefined && why === field ? fetch.faults[field] : undefined;
  const submit = () => {
    setTried(true);
    if (why !== undefined || act.isPending) return;
    const digest = sha256.trim().toLowerCase();
    act.mutate(
      { name, path: joinPath(folder, target), url, overwrite, ...(digest !== "" && { sha256: digest }) },
      {
        onSuccess: ({ op }) => {
          // It is seen to run, however soon it ends.
          const key = ["files.listOperations", { name }];
          client.setQueryData<Output<"files.listOperations">>(key, (old) => ({
            ops: [op, ...(old?.ops ?? [])],
          }));
          void client.invalidateQueries({ queryKey: key });
          onClose();
        },
      },
    );
  };
  return (
    <FormDialog
      title={files.fetch}
      action={fetch.action}
      isPending={act.isPending}
      error={act.error}
      onClose={onClose}
      onSubmit={submit}
      about={<p>{fetch.help}</p>}
    >
      <Stack>
        <Field
          label={fetch.url}
          name="url"
          value={url}
          onChange={setUrl}
          error={faultOf("url")}
          maxLength={2_048}
          autoFocus
        />
        <Field label={fetch.name} name="target" value={target} onChange={setTyped} error={faultOf("name")} />
        <Field
          label={fetch.sha256}
          name="sha256"
          value={sha256}
          onChange={setSha256}
          description={fetch.sha256Help}
          error={faultOf("sha256")}
        />
        <Checkbox label={fetch.overwrite} isChecked={overwrite} onChange={setOverwrite} />
      </Stack>
    </FormDialog>
  );
}
