// Package cell sets up the inside of a sandbox, in the process that becomes the command.
//
// Does: make the mounts of a [Plan], bring up the loopback of a network of its own, restrict the process to the plan's
// rules and system calls; as the first process of such a sandbox ([Main]), start the command, and end with it and with
// every process that it left running; try what a sandbox refuses.
//
// Does not: decide what a command may touch (tools/sandbox does), import anything but the standard library's small
// packages: the start gate of ui/screen calls it, before the rest of the program exists.
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

// Plan says how to set up a sandbox; the fields are in the order of the steps.
type Plan struct {
	Dir      string  // where the command runs
	Loopback bool    // bring it up: the command has its own network
	User     int     // keeps its number, which the process itself must map; 0: all numbers are mapped
	Group    int     // the same
	Mounts   []Mount // in order; none: the file system is unchanged
	Rules    []Rule  // of Landlock; none: it is not used
	ABI      int     // Landlock's, from the kernel
	Filter   []byte  // of system calls, in the kernel's format; none: all are allowed
	Adopts   bool    // no namespace ends the command's remaining processes: the first process does
}

// Op is one kind of change to the file system that a command sees.
type Op string

const (
	Bind     Op = "bind"     // mount From at To, with everything below
	Hide     Op = "hide"     // mount From at To without write access or devices, if From still exists
	Empty    Op = "empty"    // mount a private empty directory at To
	FS       Op = "fs"       // mount a file system of the kind From at To: proc, or devpts
	Node     Op = "node"     // the device at From works at To
	Link     Op = "link"     // make a symbolic link at To to From
	ReadOnly Op = "readonly" // make the mounts at To and below read-only, without devices
	Closed   Op = "closed"   // make the mount at To read-only, but not those below
	Writable Op = "writable" // make it writable, if its file system is
)

// Mount is one change. From is opened before the first change, so that no earlier one hides it. A missing mount point
// at To is made, which only works in a directory that an earlier change mounted.
type Mount struct {
	Op       Op
	From, To string
}

// Access is what Landlock lets a command do at a path and below. The bits are the kernel's.
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

	ofFiles = execute | writeFile | readFile | truncate | ioctlDev // accesses that apply to a file
)

// handled are the accesses that a kernel with that ABI knows. They are refused unless a rule grants them.
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

// Rule grants an access at Path and below. A missing path grants nothing.
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

// Encode encodes the plan for [Main]. Paths contain no NUL.
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

// decode reads the output of Encode.
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

// encode encodes the report, which replaces the plan.
func (r Report) encode() []byte {
	return []byte(strings.Join([]string{"report", strconv.Itoa(r.Signal), strconv.FormatBool(r.Left), r.Fault}, "\x00"))
}

// ReportOf reads the report that [Main] wrote over the plan; false: it ended before it could.
func ReportOf(b []byte) (Report, bool) {
	f := strings.SplitN(string(b), "\x00", 4)
	if len(f) != 4 || f[0] != "report" {
		return Report{}, false
	}
	signal, err := strconv.Atoi(f[1])
	return Report{Signal: signal, Left: f[2] == "true", Fault: f[3]}, err == nil
}
