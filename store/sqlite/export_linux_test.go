package sqlite

var Holder = holder
