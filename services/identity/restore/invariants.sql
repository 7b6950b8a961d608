-- fact: an installation with accounts has an owner
select 1 where exists (select from users) and not exists (select from users where role = 'owner');
-- fact: every account has a user name
select id from users where username = '';
