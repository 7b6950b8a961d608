import { useCallback, useState } from "react";
import { call } from "../api/call.ts";
import { ApiError } from "../api/error.ts";
import type { Output } from "../api/operations.ts";
import { poll } from "../api/query.ts";
import { useToast } from "../ui/toasts.tsx";
import { faultWords } from "../words/faults.ts";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";

type Ticket = Output<"exports.startWorld">;

type Download = {
  /** Starts one download: `start` asks for the ticket. The browser saves the file once it waits for it. */
  download: (start: () => Promise<Ticket>) => Promise<void>;
  /** A download is being prepared. */
  isPreparing: boolean;
};

/** Downloads of backups, worlds and files: a ticket, its preparation, then the browser's own download. */
export function useDownload(): Download {
  const words = useWords();
  const toast = useToast();
  const [preparing, setPreparing] = useState(0);
  const download = useCallback(
    async (start: () => Promise<Ticket>) => {
      setPreparing((count) => count + 1);
      try {
        const { ticket, filename } = await start();
        toast({ kind: "done", text: words.downloads.preparing(isolate(filename)) });
        if (await isReady(ticket)) saveFrom(ticket, filename);
        else toast({ kind: "failed", text: words.downloads.failed(isolate(filename)) });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        toast({ kind: "failed", text: faultWords(words, error) });
      } finally {
        setPreparing((count) => count - 1);
      }
    },
    [toast, words],
  );
  return { download, isPreparing: preparing > 0 };
}

/** False when its Job failed. */
async function isReady(ticket: string): Promise<boolean> {
  for (;;) {
    const { state } = await call("exports.readStatus", { ticket });
    if (state !== "pending") return state === "ready";
    await new Promise((resolve) => setTimeout(resolve, poll.job));
  }
}

/** A ticket works once and for 90 seconds, so the browser takes it at once. */
function saveFrom(ticket: string, filename: string): void {
  const link = document.createElement("a");
  link.href = `/api/v1/exports/${ticket}/download`;
  link.download = filename;
  link.click();
}
