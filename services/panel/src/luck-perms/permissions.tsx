import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Card, Muted } from "../ui/layout.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";
import { AddPermission } from "./add-permission.tsx";
import { type Permission, removalOf, searchPermissions } from "./rights.ts";
import type { RightsChange } from "./use-change.ts";

type PermissionsProps = { permissions: readonly Permission[]; player: string; change: RightsChange };

/** A list this short is read faster than searched. */
const searchedFrom = 12;

/** What a player may or may not do, beside what their groups say. */
export function Permissions({ permissions, player, change }: PermissionsProps) {
  const { luckPerms, players } = useWords();
  const [search, setSearch] = useState("");
  const shown = searchPermissions(permissions, search);
  return (
    <Card title={luckPerms.permissions}>
      <Muted>{luckPerms.permissionsHelp}</Muted>
      {permissions.length === 0 && <Muted>{luckPerms.noPermissions}</Muted>}
      {permissions.length >= searchedFrom && (
        <Field
          label={luckPerms.search}
          name="search-permissions"
          type="search"
          inputMode="search"
          value={search}
          onChange={setSearch}
        />
      )}
      {permissions.length > 0 && shown.length === 0 && <Muted>{players.noMatch}</Muted>}
      {shown.length > 0 && (
        <List label={luckPerms.permissions}>
          {shown.map((permission) => (
            <PermissionItem
              key={`${permission.node} ${permission.world ?? ""}`}
              permission={permission}
              player={player}
              change={change}
            />
          ))}
        </List>
      )}
      <AddPermission change={change} />
    </Card>
  );
}

type PermissionItemProps = { permission: Permission; player: string; change: RightsChange };

function PermissionItem({ permission, player, change }: PermissionItemProps) {
  const { luckPerms, players } = useWords();
  const toast = useToast();
  const { node, value, world } = permission;
  const { remove, restore } = removalOf(permission);
  const unset = async () => {
    const isDone = await change.run(remove);
    const undo = { word: players.undo, run: () => void change.run(restore) };
    if (isDone) toast({ kind: "done", text: luckPerms.unset(isolate(node), isolate(player)), action: undo });
  };
  return (
    <ListItem
      title={<code>{node}</code>}
      details={
        <>
          {value ? luckPerms.allowed : luckPerms.denied}
          {world !== undefined && ` · ${luckPerms.inWorld(isolate(world))}`}
        </>
      }
      actions={
        <Button
          isPending={change.isPending}
          label={luckPerms.removeOf(isolate(node))}
          onPress={() => void unset()}
        >
          {players.remove}
        </Button>
      }
    />
  );
}
