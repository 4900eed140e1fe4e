UPDATE audit SET at = at + 180000000 WHERE id IN (4, 5);
