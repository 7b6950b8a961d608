// hasJoined: which session server knows a joining player (api.md A1; behaviour.md g).

export {};
