// Package cell is the inside of a sandbox: what a process does to itself before it becomes a command.
//
// Does: make the mounts of a [Plan], bring the loopback of a network of its own up, keep the kernel from granting more
// than the plan's rules and system calls; as the first process of such a sandbox ([Main]), start the command, and end
// with it and with all that it leaves behind; try what a sandbox keeps a process from.
//
// Does not: decide what a command may touch (tools/sandbox does), import anything but the standard library's small
// packages: the start gate of ui/screen calls it, before the rest of the program exists.
//
// Imports: nothing of ours.
package cell

import (
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
)

// Name is the first word of the command line that makes the program the first process of a sandbox. The second is the
// number of the descriptor that its plan is on, the others are the command.
const Name = "fantail-cell"

// Plan is what a sandbox is made of, in the order of its making.
type Plan struct {
	Dir      string  // where the command runs
	Loopback bool    // bring it up: the network is one of its own
	User     int     // keeps its number, which the process itself has to say; 0: all that are to are known
	Group    int     // the same
	Mounts   []Mount // in their order; none: the file system stays as it is
	Rules    []Rule  // of Landlock; none: it is not used
	ABI      int     // Landlock's, as the kernel told
	Filter   []byte  // of system calls, as the kernel takes it; none: all pass
	Adopts   bool    // no namespace ends what the command leaves behind: its first process does
}

// Op is one kind of change to the file system that a command sees.
type Op string

const (
	Bind     Op = "bind"     // what is at From, with all below, stands at To too
	Hide     Op = "hide"     // what is at From stands at To, where it can't be changed and no device works, if anything is still there
	Empty    Op = "empty"    // a directory of its own, empty, that nobody else sees, stands at To
	FS       Op = "fs"       // a file system of the kind From stands at To: proc, or devpts
	Node     Op = "node"     // the device at From works at To
	Link     Op = "link"     // a symbolic link to From stands at To
	ReadOnly Op = "readonly" // what is mounted at To and below can't be changed, and devices there do not work
	Closed   Op = "closed"   // what is mounted at To, and not below, can't be changed
	Writable Op = "writable" // it can, as far as its file system lets it
)

// Mount is one change. From is looked for before the first of them, so that no earlier one hides it. All make the place
// at To where there is none; only in a directory that an earlier one brought is that so.
type Mount struct {
	Op       Op
	From, To string
}

// Access is what Landlock lets a command do with what is at a path and below. The bits are the kernel's.
type Access uint64

const (
	execute Access = 1 << iota
	writeFile
	readFile
	readDir
	removeDir
	removeFile
	makeChar
	makeDir
	makeReg
	makeSock
	makeFifo
	makeBlock
	makeSym
	refer
	truncate
	ioctlDev
)

const (
	Read   = execute | readFile | readDir
	Write  = Read | writeFile | removeDir | removeFile | makeDir | makeReg | makeSock | makeFifo | makeSym | refer | truncate
	Device = readFile | writeFile | ioctlDev // of a file that is one

	ofFiles = execute | writeFile | readFile | truncate | ioctlDev // what can be said of a file
)

// handled are the accesses that a kernel with that ABI knows: what no rule grants is refused.
func handled(abi int) Access {
	all := execute | writeFile | readFile | readDir | removeDir | removeFile |
		makeChar | makeDir | makeReg | makeSock | makeFifo | makeBlock | makeSym
	if abi >= 2 {
		all |= refer
	}
	if abi >= 3 {
		all |= truncate
	}
	if abi >= 5 {
		all |= ioctlDev
	}
	return all
}

// Rule grants an access to what is at Path and below. A path that is not there grants nothing.
type Rule struct {
	Path   string
	Access Access
}

// Report is how a command in a cell ended.
type Report struct {
	Fault  string // why it never began; "" if it did
	Signal int    // that ended it; 0: none did
	Left   bool   // processes that it had started still ran, and were ended
}

// Encode writes the plan down for [Main]. Paths contain no NUL.
func (p Plan) Encode() []byte {
	words := []string{p.Dir, strconv.FormatBool(p.Loopback), strconv.Itoa(p.User), strconv.Itoa(p.Group), strconv.Itoa(p.ABI), strconv.FormatBool(p.Adopts), strconv.Itoa(len(p.Mounts)), strconv.Itoa(len(p.Rules))}
	for _, m := range p.Mounts {
		words = append(words, string(m.Op), m.From, m.To)
	}
	for _, r := range p.Rules {
		words = append(words, r.Path, strconv.FormatUint(uint64(r.Access), 10))
	}
	text := strings.Join(words, "\x00")
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(text)))
	return append(append(out, text...), p.Filter...)
}

var errPlan = errors.New("the sandbox's plan is cut")

// decode reads what Encode wrote.
func decode(b []byte) (p Plan, err error) {
	if len(b) < 4 || len(b)-4 < int(binary.LittleEndian.Uint32(b)) {
		return p, errPlan
	}
	n := 4 + int(binary.LittleEndian.Uint32(b))
	words := strings.Split(string(b[4:n]), "\x00")
	p.Filter = b[n:]
	next := func() (w string) {
		if len(words) == 0 {
			err = errPlan
			return ""
		}
		w, words = words[0], words[1:]
		return w
	}
	number := func() int {
		n, e := strconv.Atoi(next())
		err = errors.Join(err, e)
		return n
	}
	p.Dir, p.Loopback = next(), next() == "true"
	p.User, p.Group, p.ABI, p.Adopts = number(), number(), number(), next() == "true"
	mounts, rules := number(), number()
	for ; mounts > 0 && err == nil; mounts-- {
		p.Mounts = append(p.Mounts, Mount{Op(next()), next(), next()})
	}
	for ; rules > 0 && err == nil; rules-- {
		r := Rule{Path: next()}
		a, e := strconv.ParseUint(next(), 10, 64)
		r.Access, err = Access(a), errors.Join(err, e)
		p.Rules = append(p.Rules, r)
	}
	return p, err
}

// encode writes the report down where the plan was.
func (r Report) encode() []byte {
	return []byte(strings.Join([]string{"report", strconv.Itoa(r.Signal), strconv.FormatBool(r.Left), r.Fault}, "\x00"))
}

// ReportOf reads what [Main] left where the plan was; false: it ended before it could.
func ReportOf(b []byte) (Report, bool) {
	f := strings.SplitN(string(b), "\x00", 4)
	if len(f) != 4 || f[0] != "report" {
		return Report{}, false
	}
	signal, err := strconv.Atoi(f[1])
	return Report{Signal: signal, Left: f[2] == "true", Fault: f[3]}, err == nil
}
