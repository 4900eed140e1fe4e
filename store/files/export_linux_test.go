package files

var Holder = holder
