UPDATE audit SET outcome = 'x'
DELETE FROM audit
