// Console and access over RCON (api.md A14; interface.md 4.1 rule 5).
// Vocabulary: line = one line of the server's log; command = one line sent over RCON; access = whitelist, bans, kicks
// and LuckPerms, each a command whose words are checked.

export {};
