package sandbox

import "golang.org/x/sys/unix"

const nativeArch = 0xc000003e // AUDIT_ARCH_X86_64

// neverHere are those of [never] that only this architecture has.
var neverHere = []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_USELIB, unix.SYS_USTAT}

// modedHere are those of [moded] that only this architecture has.
var modedHere = map[uint32]uint32{
	unix.SYS_CHMOD: dataArgLow1, unix.SYS_OPEN: dataArgLow2, unix.SYS_CREAT: dataArgLow1, unix.SYS_MKNOD: dataArgLow1,
}
