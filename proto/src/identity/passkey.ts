// Passkeys: registration, both logins, and the proof that it is still you (api.md A6, A9, A10; behaviour.md e.3, e.4).

export {};
