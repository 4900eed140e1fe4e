package turn

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"time"

	"fantail/agents/mail"
)

const (
	door      = "door"           // pipe that receives the name of each letter
	answered  = ".answer"        // suffix of the file that answers a letter
	maxLetter = 8 << 20          // bytes of a letter's file
	patience  = 10 * time.Second // how long a sender waits for the answer
	looks     = 5 * time.Millisecond
)

// named matches the names of letters.
var named = regexp.MustCompile(`^[A-Z0-9]{26}$`)

// answer is the reply to a sender.
type answer struct {
	Receipts []mail.OutsideReceipt
	Error    string // "": the letter was deposited
}

// CommandMailboxes makes the mailboxes of commands.
type CommandMailboxes struct {
	Dir string // directory for them alone; made when needed

	mu    sync.Mutex
	taken map[string]bool // directories of open mailboxes
}

// CommandMailbox takes the letters of one command.
type CommandMailbox struct {
	Dir   string
	boxes *CommandMailboxes
	root  *os.Root
	pipe  *os.File // nil: it takes no letters
	done  chan struct{}
}

// Bare opens a mailbox that takes no letters: a directory for one command alone.
func (o *CommandMailboxes) Bare(agent int64) (b *CommandMailbox, err error) {
	b = &CommandMailbox{Dir: o.take(agent), boxes: o}
	if err = os.MkdirAll(b.Dir, 0o700); err == nil {
		b.root, err = os.OpenRoot(b.Dir)
	}
	if err == nil {
		err = b.empty() // a program that was killed left its files
	}
	if err != nil {
		return nil, fmt.Errorf("make a directory for a command: %w", errors.Join(err, b.leave()))
	}
	return b, nil
}

// Open opens a mailbox for a command of the agent. deliver deposits a letter. start begins a
// goroutine, which ends with Close.
func (o *CommandMailboxes) Open(agent int64, deliver func(mail.OutsideDeposit) ([]mail.OutsideReceipt, error), start func(name string, f func())) (b *CommandMailbox, err error) {
	if b, err = o.Bare(agent); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			b, err = nil, fmt.Errorf("open a way out for mail: %w", errors.Join(err, b.leave()))
		}
	}()
	at := filepath.Join(b.Dir, door)
	if err := syscall.Mkfifo(at, 0o600); err != nil {
		return b, err
	}
	// Open both ends, so that the pipe does not end when a sender leaves.
	if b.pipe, err = os.OpenFile(at, os.O_RDWR|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0); err != nil {
		return b, err
	}
	b.done = make(chan struct{})
	start("take a command's mail", func() {
		defer close(b.done)
		lines := bufio.NewReaderSize(b.pipe, 4096)
		for {
			line, err := lines.ReadSlice('\n')
			if errors.Is(err, bufio.ErrBufferFull) {
				continue // no name is that long
			}
			if err != nil {
				return
			}
			if name := string(line[:len(line)-1]); named.MatchString(name) {
				take(b.root, name, deliver)
			}
		}
	})
	return b, nil
}

// Close takes no more letters. The command has ended.
func (b *CommandMailbox) Close() (err error) {
	if b.pipe != nil {
		err = b.pipe.Close()
		<-b.done
	}
	return errors.Join(err, b.empty(), b.leave())
}

// empty removes all files of the mailbox.
func (b *CommandMailbox) empty() error {
	d, err := b.root.Open(".")
	if err != nil {
		return err
	}
	names, err := d.Readdirnames(-1)
	err = errors.Join(err, d.Close())
	for _, n := range names {
		err = errors.Join(err, b.root.RemoveAll(n))
	}
	return err
}

// leave frees the directory for the next mailbox.
func (b *CommandMailbox) leave() (err error) {
	if b.root != nil {
		err = b.root.Close()
	}
	b.boxes.mu.Lock()
	defer b.boxes.mu.Unlock()
	delete(b.boxes.taken, b.Dir)
	return err
}

// take returns the agent's first directory without an open mailbox, and reserves it.
func (o *CommandMailboxes) take(agent int64) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for n := 0; ; n++ {
		dir := filepath.Join(o.Dir, fmt.Sprintf("%d-%d", agent, n))
		if o.taken[dir] {
			continue
		}
		if o.taken == nil {
			o.taken = map[string]bool{}
		}
		o.taken[dir] = true
		return dir
	}
}

// take deposits a letter and answers it. The file comes from a program in a sandbox and may be
// anything.
func take(root *os.Root, name string, deliver func(mail.OutsideDeposit) ([]mail.OutsideReceipt, error)) {
	var a answer
	dep, err := read(root, name)
	if err == nil {
		a.Receipts, err = deliver(dep)
	}
	if err != nil {
		a.Error = err.Error()
	}
	text, err := json.Marshal(a)
	if err != nil {
		return
	}
	part := name + ".part"
	f, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return // the sender reports a missing answer
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		_ = root.Rename(part, name+answered)
	}
}

// read reads a letter.
func read(root *os.Root, name string) (dep mail.OutsideDeposit, err error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return dep, fmt.Errorf("read the letter: %w", err)
	}
	defer f.Close()
	if i, err := f.Stat(); err != nil || !i.Mode().IsRegular() {
		return dep, errors.Join(errors.New("read the letter: it is no file"), err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxLetter+1))
	switch {
	case err != nil:
		return dep, fmt.Errorf("read the letter: %w", err)
	case len(text) > maxLetter:
		return dep, fmt.Errorf("read the letter: it is longer than %d MiB", maxLetter>>20)
	}
	if err := json.Unmarshal(text, &dep); err != nil {
		return dep, fmt.Errorf("read the letter: %w", err)
	}
	return dep, nil
}

// SendFromCommand hands a letter to the host that opened the mailbox at dir, and returns the host's
// answer. ctx limits the wait for the answer; after it, the letter may or may not be deposited.
func SendFromCommand(ctx context.Context, dir string, dep mail.OutsideDeposit) ([]mail.OutsideReceipt, error) {
	text, err := json.Marshal(dep)
	if err != nil {
		return nil, fmt.Errorf("write the letter: %w", err)
	}
	name := rand.Text()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, fmt.Errorf("write the letter: %w", err)
	}
	pipe, err := os.OpenFile(filepath.Join(dir, door), os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("hand the letter out: %w: nobody takes this command's mail any more", err), os.Remove(path))
	}
	_, err = pipe.WriteString(name + "\n")
	if err = errors.Join(err, pipe.Close()); err != nil {
		return nil, fmt.Errorf("hand the letter out: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(looks)
	defer tick.Stop()
	for {
		text, err := os.ReadFile(path + answered)
		if err == nil {
			var a answer
			if err := json.Unmarshal(text, &a); err != nil {
				return nil, fmt.Errorf("read the answer: %w", err)
			}
			_ = errors.Join(os.Remove(path), os.Remove(path+answered))
			if a.Error != "" {
				return nil, errors.New(a.Error)
			}
			return a.Receipts, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read the answer: %w", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, errors.New("nobody answered: whether the letter was sent is not known; --key makes it safe to send it again")
		}
	}
}
