import type { GameServer, Player } from "flying-squid";

/** flying-squid tells clients of no command, so that they would complete none by Tab and show each of them in red. */
export function declareCommands({ commands }: GameServer, player: Player): void {
  const names = Object.entries(commands.uniqueHash)
    .filter(([name, { params }]) => /^\S+$/.test(name) && (player.op || !params.op))
    .map(([name]) => name);
  const flags = (kind: number, isExecutable: boolean) => ({
    ...{ unused: 0, allows_restricted: 0, has_custom_suggestions: 0, has_redirect_node: 0 },
    ...{ has_command: isExecutable ? 1 : 0, command_node_type: kind },
  });
  const [rest, greedy] = [names.length + 1, 2];
  const nodes = [
    { flags: flags(0, false), children: names.map((_, index) => index + 1) },
    ...names.map((name) => ({ flags: flags(1, true), children: [rest], extraNodeData: { name } })),
    {
      ...{ flags: flags(2, true), children: [] },
      extraNodeData: { name: "arguments", parser: "brigadier:string", properties: greedy },
    },
  ];
  player._client.write("declare_commands", { nodes, rootIndex: 0 });
}
