-- fact: every server has a name that its object can have
select name from servers where name !~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$';
