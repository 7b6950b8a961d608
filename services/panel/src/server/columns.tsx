import { Link } from "../ui/link.tsx";
import { Tags } from "../ui/tags.tsx";
import type { Column } from "../ui/virtual-table.tsx";
import { visible } from "../words/visible.ts";
import type { Words } from "../words/words.ts";
import { Claim } from "./claim.tsx";
import styles from "./columns.module.css";
import { PhaseStatus } from "./phase-status.tsx";
import type { ServerRow } from "./row.ts";
import { StartNote } from "./start-card.tsx";
import { WakeOrStop } from "./wake-stop.tsx";

/** The columns of the list of servers. */
export function columnsOf({ server, servers, sharing }: Words, isStaff: boolean): Column<ServerRow>[] {
  return [
    {
      key: "name",
      title: servers.name,
      width: "minmax(0, 2fr)",
      cell: (row) => (
        <>
          <Link to={`/servers/${row.name}`}>
            <bdi>{row.displayName}</bdi>
          </Link>
          {(row.isShared || row.tags) && (
            <div className={styles.note}>
              {row.isShared && sharing.sharedWithYou}{" "}
              {row.tags && <Tags label={servers.tags} of={row.tags} isLine />}
            </div>
          )}
        </>
      ),
    },
    {
      key: "status",
      title: servers.status,
      width: "minmax(170px, 1.4fr)",
      cell: (row) => (
        <>
          <PhaseStatus server={row} />
          <div className={styles.note}>
            <StartNote server={row} />
          </div>
        </>
      ),
    },
    {
      key: "players",
      title: servers.players,
      width: "130px",
      cell: (row) => {
        if (row.phase !== "Running") return null;
        return row.playersUnknown ? server.playersUnknown : server.players(row.playersOnline, row.playersMax);
      },
    },
    ...(isStaff
      ? [
          {
            key: "owner",
            title: servers.owner,
            width: "minmax(0, 1.4fr)",
            cell: ({ owner, claimable }: ServerRow) => {
              if (owner === undefined) return claimable ? servers.free : null;
              return <bdi>{visible(owner)}</bdi>;
            },
          },
        ]
      : []),
    {
      key: "actions",
      title: servers.actions,
      width: "150px",
      cell: (row) => {
        if (row.isMine || (isStaff && !row.system)) return <WakeOrStop server={row} />;
        return row.claimable && !isStaff ? <Claim name={row.name} /> : null;
      },
    },
  ];
}
