// Moving all servers of one account to another (api.md A4, A12; behaviour.md f). World moves are storage's.

export {};
