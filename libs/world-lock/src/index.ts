// The maintenance lock of a world (interface.md 3.2, behaviour.md h.1).

export {};
