// A game server as a process of its own, to be killed under its players. Takes its forwarding secret, prints its address.

import { startGame } from "./game-server.ts";

const game = await startGame();
game.accept(process.argv[2] ?? "");
process.stdout.write(`${game.address}\n`);
