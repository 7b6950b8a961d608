// A game server as a process of its own, to be killed under its players. Prints its address.

import { startGame } from "./game.ts";

const game = await startGame();
process.stdout.write(`${game.address}\n`);
