package ui

import (
	"time"

	"fantail/ui/format"
	"fantail/ui/notify"
	"fantail/ui/panel"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
)

// boards opens boards and knows which one is open.
type boards struct {
	panel.Options
	layers *Stack
	flash  *notify.Flash
	over   func(t *tabs.Tab) bool // reports whether the question of a tab's agent is shown already

	waiting panel.Waiting
}

// inbox opens an agent's inbox. Its mail is no longer new then.
func (b *boards) inbox(agent int64, name string) {
	if b.opens(agent) {
		if t := b.Tabs.ByID(agent); t != nil {
			t.News = false
		}
		b.layers.Show(panel.Inbox(b.Options, agent, name))
	}
}

// queue opens an agent's queue.
func (b *boards) queue(agent int64, name string) {
	if b.opens(agent) {
		b.layers.Show(panel.Queue(b.Options, agent, name))
	}
}

// schedules opens the list of schedules.
func (b *boards) schedules(agent int64, name string) {
	if b.opens(agent) {
		b.layers.Show(panel.Schedules(b.Options, agent, name))
	}
}

// servers opens the list of MCP servers.
func (b *boards) servers(agent int64, name string) {
	if b.opens(agent) {
		b.layers.Show(panel.Servers(b.Options, agent, name))
	}
}

// rules opens the list of permission rules.
func (b *boards) rules(agent int64, name string) {
	if b.opens(agent) {
		b.layers.Show(panel.Rules(b.Options, agent, name))
	}
}

// opens reports whether there is something to list. If the workspace is not open yet, it says so.
func (b *boards) opens(agent int64) bool {
	if b.Pool == nil || agent == 0 {
		b.flash.While(format.Sentence(panel.ErrOpening), func() bool { return b.Pool == nil })
		return false
	}
	return true
}

// overview opens the list of all agents.
func (b *boards) overview() { b.layers.Show(panel.Overview(b.Options, b.over)) }

// wall opens the Fan.
func (b *boards) wall() { b.layers.Show(panel.NewFan(b.Options, &b.waiting, b.over)) }

// timeline opens the timeline.
func (b *boards) timeline() { b.layers.Show(panel.NewTimeline(b.Options, &b.waiting)) }

// clock returns the open timeline; nil: it is not open.
func (b *boards) clock() *panel.Timeline {
	t, _ := b.layers.Board().(*panel.Timeline)
	return t
}

// panel returns the open inbox, queue, or list of schedules, servers or rules. fleet returns the
// open overview, and fan the open Fan. Each returns nil if it is not open.
func (b *boards) panel() *panel.Panel {
	p, _ := b.layers.Board().(*panel.Panel)
	return p
}

func (b *boards) fleet() *panel.Fleet {
	f, _ := b.layers.Board().(*panel.Fleet)
	return f
}

func (b *boards) fan() *panel.Fan {
	f, _ := b.layers.Board().(*panel.Fan)
	return f
}

// muster has the boards of agents list those there are.
func (b *boards) muster() {
	if f := b.fleet(); f != nil {
		f.Muster()
	}
	if f := b.fan(); f != nil {
		f.Muster()
	}
	if t := b.clock(); t != nil {
		t.Muster()
	}
}

// tailed returns the tabs whose last lines a board shows.
func (b *boards) tailed() (ts []*tabs.Tab) {
	x := b.layers.Board()
	if x == nil {
		return nil
	}
	for _, id := range x.Tails() {
		if t := b.Tabs.ByID(id); t != nil {
			ts = append(ts, t)
		}
	}
	return ts
}

// reads reports whether the inbox of that agent is open.
func (b *boards) reads(agent int64) bool { return b.panel() != nil && b.panel().Reads(agent) }

// turns returns how long until something on a board changes without an event; 0: nothing does.
func (b *boards) turns() time.Duration {
	moves := len(b.tailed()) > 0
	if f := b.fleet(); f != nil {
		moves = f.Moves()
	}
	if f := b.fan(); f != nil {
		moves = f.Moves()
	}
	if t := b.clock(); t != nil {
		moves = t.Moves()
	}
	switch p := b.panel(); {
	case moves:
		return time.Second
	case p != nil:
		return p.Turns()
	}
	return 0
}

// views returns the transcripts that a board shows.
func (b *boards) views() (vs []*transcript.View) {
	if p := b.panel(); p != nil && p.Previewed() != nil {
		vs = append(vs, p.Previewed())
	}
	if t := b.clock(); t != nil && t.View() != nil {
		vs = append(vs, t.View())
	}
	for _, t := range b.tailed() {
		vs = append(vs, t.View)
	}
	return vs
}
