// Execution nodes as operators see them (api.md A21, behaviour.md o).

export {};
