import { files } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { type Outcome, sizeText } from "../output.ts";
import { printable } from "./printable.ts";

type Wanted = { name: string; path: string; names: string[] };

const reasons = {
  special: "a link or a device",
  too_long: "its path is too long",
  unreadable: "it cannot be read",
  holes: "nearly all of it is holes",
  protected: "a secret of the platform",
} as const;

/** Packs files and folders of a world as a zip beside them. */
export async function archiveFiles(wanted: Wanted, { data }: { data: string }): Promise<Outcome> {
  const made = await connectExternal(data).call(files.archive, wanted);
  const { path, entries, size, left_out, left_out_count } = made;
  const more = left_out_count - left_out.length;
  const text = [
    `${printable(path)} (${sizeText(size)}) holds ${entries} files and folders.`,
    ...left_out.map((left) => `Left out: ${printable(left.path)} (${reasons[left.reason]})`),
    ...(more > 0 ? [`... and ${more} more`] : []),
  ];
  return { json: made, text: text.join("\n") };
}
