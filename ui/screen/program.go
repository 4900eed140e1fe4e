package screen

import (
	"fmt"
	"os"
	"os/signal"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"fantail/ui/screen/wire"
)

// give gives the terminal to a program, most often an editor, until it ends.
func (r *relay) give(f wire.Fields) {
	r.release(r.patience())
	r.given.Store(true)
	var back wire.Fields
	code, err := run(f.All(wire.Arg), f.All(wire.Env), f.Get(wire.Dir), func() {
		if !r.stopBy.IsZero() { // a stop was asked for; it is obsolete once the program has ended
			r.stopBy = time.Time{}
			stopGroup()
		}
	})
	r.given.Store(false)
	if err != nil {
		back.Add(wire.Say, err.Error())
	}
	back.Add(wire.Code, strconv.Itoa(code))
	if r.take() == nil {
		r.back(back)
	}
}

// run runs a program on the terminal and returns its exit code. It calls started once the program runs. Ctrl+C goes to
// the program alone; other signals that end a screen end the program too.
func run(argv, env []string, dir string, started func()) (code int, err error) {
	if len(argv) == 0 {
		return 0, fmt.Errorf("no program is named")
	}
	path, err := find(argv[0], env)
	if err != nil {
		return 0, err
	}
	ended := make(chan os.Signal, 4)
	for _, sig := range leaving {
		if sig != syscall.SIGINT && sig != syscall.SIGQUIT && !signal.Ignored(sig) {
			signal.Notify(ended, sig)
		}
	}
	defer signal.Stop(ended)
	defer stops()() // it may stop itself, and its whole group with it
	p, err := os.StartProcess(path, argv, &os.ProcAttr{Dir: dir, Env: env, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		return 0, err
	}
	started()
	done := make(chan struct{})
	go func() {
		for {
			select {
			case sig := <-ended:
				_ = p.Signal(sig)
			case <-done:
				return
			}
		}
	}()
	state, err := p.Wait()
	close(done)
	if err != nil {
		return 0, err
	}
	return state.ExitCode(), nil
}

// find returns where PATH of that environment has the program.
func find(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, kv := range env {
		list, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		for dir := range strings.SplitSeq(list, ":") {
			file := path.Join(dir, name)
			if info, err := os.Stat(file); path.IsAbs(file) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return file, nil
			}
		}
	}
	return "", fmt.Errorf("%s: executable file not found in $PATH", name)
}
