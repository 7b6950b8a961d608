import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAction } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Row } from "../../ui/layout.tsx";
import { usePackWords } from "../../words/pack-words.ts";
import { type Build, isActive } from "./builds-view.ts";

type BuildActsProps = {
  build: Build;
  cancel: { mutate: (input: { id: string }) => void; isPending: boolean };
};

/** Cancels a build that has not ended; repeats one that failed or was cancelled. */
export function BuildActs({ build, cancel }: BuildActsProps) {
  const { builds } = usePackWords();
  const navigate = useNavigate();
  const retry = useAction("builds.retryBuild", ["builds.listBuilds"]);
  const [isAsking, setAsking] = useState(false);
  const { id, status } = build;
  const canRetry = status === "failed" || status === "cancelled";
  return (
    <Row>
      <Failure error={retry.error} />
      {isActive(status) && build.kind !== "scan" && (
        <Button kind="danger" isPending={cancel.isPending} onPress={() => setAsking(true)}>
          {builds.cancel}
        </Button>
      )}
      {canRetry && (
        <Button
          kind="primary"
          isPending={retry.isPending}
          onPress={() =>
            retry.mutate({ id }, { onSuccess: (next) => void navigate({ to: `/admin/builds/${next.id}` }) })
          }
        >
          {build.kind === "scan" ? builds.retryScan : builds.retry}
        </Button>
      )}
      <Confirm
        title={builds.cancelTitle}
        action={builds.cancelAction}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => cancel.mutate({ id })}
      >
        <p>{builds.cancelHelp}</p>
      </Confirm>
    </Row>
  );
}
