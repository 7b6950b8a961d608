-- Ends what was open when the bundle was taken: a session, code or link of then must not open anything now.
delete from sessions;
delete from setup_tokens;
delete from email_otps;
delete from otp_reservations;
delete from webauthn_challenges;
delete from account_link_codes;
delete from op_login_requests;
delete from cli_logins;
delete from oidc_logins;
-- One that was revoked since would open again; kept, so that its caller is told why.
update api_tokens set revoked_at = now() where revoked_at is null;
-- One that was removed since would open again, too.
delete from ssh_keys;
delete from sftp_endpoint;
delete from account_migrations where state in ('initiated', 'confirmed', 'code_issued');
