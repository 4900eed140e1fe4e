package workspace

import (
	"io/fs"
	"os"
	"strconv"
)

// oPath opens a name without opening what it names: nothing is read, locked or woken.
const oPath = 0x200000

// openIn opens a regular file of dir after looking at it.
func openIn(dir *os.Root, name string, closed map[id]bool) (*os.File, fs.FileInfo, error) {
	p, err := dir.OpenFile(name, oPath, 0)
	if err != nil {
		return nil, nil, Plain(err)
	}
	defer p.Close()
	fi, err := p.Stat()
	if err != nil {
		return nil, nil, Plain(err)
	}
	if err := fit(name, fi, closed); err != nil {
		return nil, nil, err
	}
	f, err := os.Open("/proc/self/fd/" + strconv.Itoa(int(p.Fd())))
	if err != nil {
		return nil, nil, Plain(err)
	}
	return f, fi, nil
}

// standsAt makes sure that the directory that is held is the one of that path.
func standsAt(r *os.Root, path string) error {
	d, err := r.OpenFile(".", oPath, 0)
	if err != nil {
		return Plain(err)
	}
	defer d.Close()
	at, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(d.Fd())))
	if err != nil {
		return Plain(err)
	}
	if at != path {
		return errMoved
	}
	return nil
}
