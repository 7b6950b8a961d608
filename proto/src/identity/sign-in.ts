// The doors: options, mailed codes, operator login, bind code, local password (api.md A6; behaviour.md e.1, e.2).

export {};
