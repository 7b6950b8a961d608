import { Chips, Muted } from "../ui/layout.tsx";
import { Time } from "../ui/time.tsx";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { allRights, type Grant, type Limits } from "./presets.ts";

/** What an access lets somebody do, in words. */
export function RightList({ grant }: { grant: Grant }) {
  const { sharing } = useWords();
  const { rights, limits, ends_at } = grant;
  const isAll = allRights.every((right) => rights.includes(right));
  return (
    <>
      <Chips
        label={sharing.rights}
        of={
          isAll
            ? [sharing.everything]
            : allRights.filter((right) => rights.includes(right)).map((right) => sharing.rightWords[right])
        }
      />
      {limits && <LimitList limits={limits} />}
      {ends_at !== undefined && (
        <div>
          {sharing.ends} <Time at={ends_at} />
        </div>
      )}
    </>
  );
}

const order = ["allow_commands", "deny_commands", "read_paths", "write_paths"] as const;

function LimitList({ limits }: { limits: Limits }) {
  const { sharing } = useWords();
  return order.map((limit) => {
    const given = limits[limit];
    if (given === undefined) return null;
    return (
      <div key={limit}>
        {sharing.limits[limit]} <bdi>{given.length === 0 ? sharing.none : visible(given.join(", "))}</bdi>
      </div>
    );
  });
}

/** Why something is not offered: the access of the reader does not include it. */
export function NotIncluded({ what }: { what: string }) {
  const { sharing } = useWords();
  return <Muted>{sharing.notIncluded(what)}</Muted>;
}
