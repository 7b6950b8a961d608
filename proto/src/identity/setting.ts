// Platform settings and the audit log (architecture.md 6.8, 6.2).

export {};
