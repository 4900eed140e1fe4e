package sandbox

import "golang.org/x/sys/unix"

const nativeArch = 0xc00000b7 // AUDIT_ARCH_AARCH64

// neverHere are those of [never] that only this architecture has.
var neverHere = []uint32{unix.SYS_KEXEC_FILE_LOAD, unix.SYS_LOOKUP_DCOOKIE}

// modedHere are those of [moded] that only this architecture has.
var modedHere = map[uint32]uint32{}
