// A bar on the terminal while a pass runs.

import type { offsites } from "@svc/proto";
import { sizeText } from "../output.ts";

type Terminal = Pick<NodeJS.WriteStream, "write" | "isTTY">;

/** Draws the lines `progress {…}` of the program of ops-watchdog; nothing without a terminal. */
export function showProgress(terminal: Terminal | undefined): {
  onLine: (line: string) => void;
  end: () => void;
} {
  if (!terminal?.isTTY) return { onLine: () => undefined, end: () => undefined };
  return {
    onLine: (line) => {
      if (!line.startsWith("progress ")) return;
      const progress = JSON.parse(line.slice("progress ".length)) as offsites.OffsiteProgress;
      terminal.write(`\r\u001b[K${progressText(progress)}`);
    },
    end: () => void terminal.write("\r\u001b[K"),
  };
}

const width = 24;

/** `worlds [████░░░░] 45 % 3/10 objects, 1.2 GiB of 3.0 GiB, 4 min left` */
export function progressText(progress: offsites.OffsiteProgress): string {
  const { kind, objects_done, objects_total, bytes_done, bytes_total, eta_seconds } = progress;
  const share = bytes_total === 0 ? 1 : bytes_done / bytes_total;
  const full = Math.round(share * width);
  const bar = "█".repeat(full) + "░".repeat(width - full);
  const left = eta_seconds === undefined ? "" : `, ${spanText(eta_seconds)} left`;
  return `${kind} [${bar}] ${Math.floor(share * 100)} % ${objects_done}/${objects_total} objects, ${sizeText(bytes_done)} of ${sizeText(bytes_total)}${left}`;
}

function spanText(seconds: number): string {
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`;
}
