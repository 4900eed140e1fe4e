//go:build !linux

package sqlite

import (
	"context"
	"os"
	"time"
)

// Other systems than Linux tell less: the files are compared only by what is at their paths.

type openFiles struct{}

type head struct{}

func (openFiles) hold(*Held) error { return nil }

func (openFiles) release() {}

func (openFiles) begin() head { return head{} }

func (openFiles) gone(int, string) (what string, moved bool) { return "was deleted or moved", false }

func (openFiles) content(*Held, head, os.FileInfo) *Damage { return nil }

// SettleFiles does not wait: other processes that have the file open are unknown here.
func SettleFiles(context.Context, string, time.Duration) error { return nil }

// Watcher reports no changes here.
type Watcher struct{}

// NewWatcher returns nil: the kernel has no such reports.
func NewWatcher(func(name string, f func())) *Watcher { return nil }

// Begin returns false: no change is reported.
func (*Watcher) Begin(*Held) bool { return false }

// News returns a channel that holds a token when something changed since Begin.
func (*Watcher) News() <-chan struct{} { return nil }

// Close ends the watch.
func (*Watcher) Close() {}
