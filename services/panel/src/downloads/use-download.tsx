import { useCallback, useState } from "react";
import { call } from "../api/call.ts";
import { ApiError } from "../api/error.ts";
import type { Output } from "../api/operations.ts";
import { poll } from "../api/query.ts";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";

type Ticket = Output<"exports.startWorld">;

type Download = {
  /** Starts one download: `start` asks for the ticket. The browser saves the file once it waits for it. */
  download: (start: () => Promise<Ticket>) => Promise<void>;
  /** A download is being prepared. */
  isPreparing: boolean;
};

/** The file waits 90 seconds for the browser (docs/reference/exports.md#ticket); a poll learns of it a little late. */
const waitMs = 90_000 - 2 * poll.job;

/**
 * Downloads of backups, worlds and files: a ticket, its preparation, then the browser's own download. Where the browser does
 * not begin by itself the person can, as long as the file waits; after that it is asked for again.
 */
export function useDownload(): Download {
  const words = useWords();
  const toast = useToast();
  const [preparing, setPreparing] = useState(0);
  const prepare = useCallback(
    async (start: () => Promise<Ticket>) => {
      setPreparing((count) => count + 1);
      try {
        const { ticket, filename } = await start();
        toast({ kind: "done", text: words.downloads.preparing(isolate(filename)) });
        return { ticket, filename, isReady: await isReady(ticket) };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        toast(failedToast(words, error));
        return undefined;
      } finally {
        setPreparing((count) => count - 1);
      }
    },
    [toast, words],
  );
  const download = useCallback(
    async (start: () => Promise<Ticket>) => {
      const { downloads } = words;
      const again = { word: downloads.again, run: () => void download(start) };
      const ready = await prepare(start);
      if (!ready) return;
      const { ticket, filename } = ready;
      const file = isolate(filename);
      if (!ready.isReady) return void toast({ kind: "failed", text: downloads.failed(file), action: again });
      const until = Date.now() + waitMs;
      const save = { word: downloads.save, run: () => saveFrom(ticket, filename) };
      save.run();
      const help = () => toast({ kind: "waiting", text: downloads.waits(file), until, action: save });
      if (!(await isTaken(ticket, { until, help })))
        toast({ kind: "failed", text: downloads.late(file), action: again });
    },
    [prepare, toast, words],
  );
  return { download, isPreparing: preparing > 0 };
}

const pause = () => new Promise((resolve) => setTimeout(resolve, poll.job));

/** False when its Job failed. */
async function isReady(ticket: string): Promise<boolean> {
  for (;;) {
    const { state } = await call("exports.readStatus", { ticket });
    if (state !== "pending") return state === "ready";
    await pause();
  }
}

type Waiting = {
  until: number;
  /** Offers to save it by hand; what comes back takes the offer away. */
  help: () => () => void;
};

/** Whether the browser began in time; its ticket is used up either way. */
async function isTaken(ticket: string, { until, help }: Waiting): Promise<boolean> {
  let endHelp: (() => void) | undefined;
  try {
    for (;;) {
      await pause();
      const { state } = await call("exports.readStatus", { ticket });
      if (state !== "ready") return true;
      endHelp ??= help();
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // Who cannot be asked has not said that it is too late.
    return error.code !== "export_expired" || Date.now() < until;
  } finally {
    endHelp?.();
  }
}

/** A ticket works once and for 90 seconds, so the browser takes it at once. */
function saveFrom(ticket: string, filename: string): void {
  const link = document.createElement("a");
  link.href = `/api/v1/exports/${ticket}/download`;
  link.download = filename;
  link.click();
}
