package proc

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A command ends with the program that runs it, however that ends, and only then: the thread that started it may not
// end before.
func TestRun_commandDiesWithTheProgram(t *testing.T) {
	path, line := fifo(t)
	for range 3 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), doomedEnv+"=echo $$ > "+path+"; exec sleep 600")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		pid := line()
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		late := time.NewTimer(time.Minute)
		tick := time.NewTicker(5 * time.Millisecond)
		for alive := true; alive; {
			b, err := os.ReadFile("/proc/" + pid + "/stat")
			alive = err == nil && !strings.Contains(string(b), ") Z ")
			select {
			case <-tick.C:
			case <-late.C:
				t.Fatalf("process %s outlives the program", pid)
			}
		}
		tick.Stop()
		late.Stop()
	}
}

// Threads that end do not end a command.
func TestRun_threadsEndAndCommandsStay(t *testing.T) {
	path, line := fifo(t)
	if err := syscall.Mkfifo(path+".go", 0o600); err != nil {
		t.Fatal(err)
	}
	var done []chan Result
	for range 8 {
		c := make(chan Result, 1)
		done = append(done, c)
		go func() {
			// A goroutine that ends with its thread locked ends the thread.
			runtime.LockOSThread()
			r, err := Run(context.Background(), Spec{Shell: "echo up > " + path + "; exec < " + path + ".go; echo done", Env: os.Environ(), Head: 100})
			if err != nil {
				r.Text = err.Error()
			}
			c <- r
		}()
	}
	for range done {
		line()
	}
	for range 20 {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			runtime.LockOSThread()
		}()
		<-ended
	}
	f, err := os.OpenFile(path+".go", os.O_RDWR, 0) // unblocks the open for reading
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, c := range done {
		if r := <-c; r.Text != "done\n" || r.Signal != "" {
			t.Errorf("the command ended with %q %s", r.Text, r.Signal)
		}
	}
}
