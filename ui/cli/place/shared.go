package place

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// shared are the file systems that other machines may have mounted too, as the kernel calls them, for people.
var shared = map[string]string{
	"nfs": "NFS", "nfs4": "NFS", "cifs": "SMB", "smb3": "SMB", "smbfs": "SMB", "9p": "9p", "ceph": "Ceph", "afs": "AFS",
	"lustre": "Lustre", "ocfs2": "OCFS2", "gfs2": "GFS2", "beegfs": "BeeGFS",
	"fuse.sshfs": "sshfs", "fuse.rclone": "rclone", "fuse.s3fs": "s3fs", "fuse.gcsfuse": "gcsfuse", "fuse.glusterfs": "GlusterFS",
	"fuse.ceph": "Ceph", "fuse.ceph-fuse": "Ceph", "fuse.davfs": "davfs", "fuse.davfs2": "davfs", "fuse.curlftpfs": "curlftpfs",
	"fuse.juicefs": "JuiceFS", "fuse.moosefs": "MooseFS", "fuse.mfs": "MooseFS",
}

// Shared names the file system that dir lies on if other machines may have it mounted too; "": they may not, or it is
// not known, as everywhere but on Linux. Locks can't be relied on there: never are two machines to use the same data.
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

// mounted is the type of the file system on which dir lies, according to a list of mounts as the kernel gives it: each
// over those before it.
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

// spelledOut is a path in which the kernel wrote blanks and the like as backslashes and octal numbers.
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

// Warning says what to mind about a data directory that other machines may see too; "": nothing.
func Warning(data string) string {
	name := Shared(data)
	if name == "" {
		return ""
	}
	return data + " is on " + name + ": never start Fantail for this workspace on two machines; XDG_DATA_HOME may name a local directory"
}
