import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { poll, useOperation } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Filters } from "../../ui/filters.tsx";
import { Link } from "../../ui/link.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page as PageFrame } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { Select } from "../../ui/select.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, VirtualTable } from "../../ui/virtual-table.tsx";
import { visible } from "../../words/visible.ts";
import { useWords, type Words } from "../../words/words.ts";
import type { Query } from "../address.ts";
import { CreateUser } from "./create-user.tsx";
import {
  addressOf,
  lookOfState,
  pageSize,
  requestOf,
  roleFilters,
  stateFilters,
  stateOf,
  type User,
  type UsersView,
  userSorts,
  usersViewOf,
} from "./users-view.ts";

/** All users that are not deleted. */
export function Page() {
  const words = useWords();
  const { users } = words;
  const navigate = useNavigate();
  const view = usersViewOf(useSearch({ strict: false }) as Query);
  const { data, error, refetch } = useOperation("users.list", requestOf(view), {
    every: poll.list,
    keepsPrevious: true,
  });
  const [isCreating, setCreating] = useState(false);
  const columns = useMemo(() => columnsOf(words), [words]);
  const show = (change: Partial<UsersView>) =>
    void navigate({ to: "/admin/users", search: addressOf({ ...view, page: 1, ...change }), replace: true });
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  const from = (view.page - 1) * pageSize;
  const isLast = from + pageSize >= data.total;
  return (
    <PageFrame
      title={users.title}
      actions={
        <Button kind="primary" onPress={() => setCreating(true)}>
          {users.create}
        </Button>
      }
    >
      <UserFilters view={view} show={show} />
      {error && <Failure error={error} retry={() => void refetch()} />}
      {data.users.length === 0 ? (
        <Empty
          title={users.noMatch}
          action={
            <Button onPress={() => show({ search: "", role: "all", state: "all" })}>{users.clear}</Button>
          }
        />
      ) : (
        <VirtualTable label={users.title} columns={columns} rows={data.users} keyOf={idOf} rowPx={rowPx} />
      )}
      <Pager
        text={users.shown(data.users.length, data.total)}
        back={{
          word: users.previous,
          run: view.page > 1 ? () => show({ page: view.page - 1 }) : undefined,
        }}
        on={{ word: users.next, run: isLast ? undefined : () => show({ page: view.page + 1 }) }}
      />
      {isCreating && <CreateUser onClose={() => setCreating(false)} />}
    </PageFrame>
  );
}

const idOf = ({ id }: User) => id;
const rowPx = {
  wide: { comfortable: 52, compact: 42 },
  narrow: { comfortable: 128, compact: 116 },
} as const;

function UserFilters({ view, show }: { view: UsersView; show: (change: Partial<UsersView>) => void }) {
  const { users } = useWords();
  return (
    <Filters label={users.filters}>
      <SearchField
        label={users.search}
        value={view.search}
        onChange={(search) => show({ search })}
        maxLength={254}
      />
      <Select
        label={users.role}
        value={view.role}
        onChange={(role) => show({ role })}
        options={roleFilters.map((name) => [name, users.roleFilters[name]])}
      />
      <Select
        label={users.state}
        value={view.state}
        onChange={(state) => show({ state })}
        options={stateFilters.map((name) => [name, users.stateFilters[name]])}
      />
      <Select
        label={users.sort}
        value={view.sort}
        onChange={(sort) => show({ sort })}
        options={userSorts.map((name) => [name, users.sorts[name]])}
      />
    </Filters>
  );
}

function columnsOf({ users, account }: Words): Column<User>[] {
  return [
    {
      key: "name",
      title: users.name,
      width: "minmax(0, 1.4fr)",
      cell: ({ id, username }) => (
        <Link to={`/admin/users/${id}`}>
          <bdi>{visible(username)}</bdi>
        </Link>
      ),
    },
    {
      key: "email",
      title: users.email,
      width: "minmax(0, 1.4fr)",
      cell: ({ email }) => <bdi>{visible(email ?? users.noEmail)}</bdi>,
    },
    {
      key: "role",
      title: users.role,
      width: "minmax(0, 1.4fr)",
      cell: ({ role }) => account.roles[role],
    },
    {
      key: "state",
      title: users.state,
      width: "110px",
      cell: (user) => <Status look={lookOfState[stateOf(user)]} word={users.states[stateOf(user)]} />,
    },
    {
      key: "servers",
      title: users.servers,
      width: "100px",
      cell: ({ server_count }) => users.serverCount(server_count),
    },
  ];
}
