package workspace

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// shared are the file systems that other machines may have mounted too, by the kernel's names, with names for people.
var shared = map[string]string{
	"nfs": "NFS", "nfs4": "NFS", "cifs": "SMB", "smb3": "SMB", "smbfs": "SMB", "9p": "9p", "ceph": "Ceph", "afs": "AFS",
	"lustre": "Lustre", "ocfs2": "OCFS2", "gfs2": "GFS2", "beegfs": "BeeGFS",
	"fuse.sshfs": "sshfs", "fuse.rclone": "rclone", "fuse.s3fs": "s3fs", "fuse.gcsfuse": "gcsfuse", "fuse.glusterfs": "GlusterFS",
	"fuse.ceph": "Ceph", "fuse.ceph-fuse": "Ceph", "fuse.davfs": "davfs", "fuse.davfs2": "davfs", "fuse.curlftpfs": "curlftpfs",
	"fuse.juicefs": "JuiceFS", "fuse.moosefs": "MooseFS", "fuse.mfs": "MooseFS",
}

// Shared returns the name of the file system of dir if other machines may have it mounted too; "": they can't, or that
// is unknown, as everywhere but on Linux. Locks are unreliable there: two machines must never use the same data.
func Shared(dir string) string {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return shared[mounted(string(mounts), dir)]
}

// mounted returns the type of the file system of dir, from the kernel's list of mounts, in which later ones cover
// earlier ones.
func mounted(mounts, dir string) (kind string) {
	longest := -1
	for line := range strings.Lines(mounts) {
		where, what, ok := strings.Cut(line, " - ")
		fields, kinds := strings.Fields(where), strings.Fields(what)
		if !ok || len(fields) < 5 || len(kinds) == 0 {
			continue
		}
		point := spelledOut(fields[4])
		if len(point) >= longest && (point == "/" || dir == point || strings.HasPrefix(dir, point+"/")) {
			longest, kind = len(point), kinds[0]
		}
	}
	return kind
}

// spelledOut returns a path in which the kernel wrote blanks and the like as backslashes and octal numbers.
func spelledOut(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// Warning returns a warning about a data directory that other machines may see too; "": none.
func Warning(data string) string {
	name := Shared(data)
	if name == "" {
		return ""
	}
	return data + " is on " + name + ": never start Fantail for this workspace on two machines; XDG_DATA_HOME may name a local directory"
}
