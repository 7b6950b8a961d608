// Users as the owner of the installation sees them (api.md A26, A28; interface.md 2.22).

export {};
