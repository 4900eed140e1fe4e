package composer

import (
	tea "charm.land/bubbletea/v2"
)

// Key handles a key press. It returns false if the key is not for the box: Ctrl+C never is, nor are `?`, Enter and the
// keys that move the cursor while the box is empty. The rest of the interface may give them a meaning.
func (b *Box) Key(k tea.KeyPressMsg) (Intent, bool) {
	key, typed := k.Keystroke(), typedText(k)
	intent, taken := b.press(key, typed)
	if taken {
		b.touch()
	}
	return intent, taken
}

// typedText returns the text that the key types: none if it is held with Ctrl or Alt.
func typedText(k tea.KeyPressMsg) string {
	if k.Mod&(tea.ModCtrl|tea.ModAlt|tea.ModMeta|tea.ModHyper|tea.ModSuper) != 0 {
		return ""
	}
	return k.Text
}

func (b *Box) press(key, typed string) (Intent, bool) {
	if b.find != nil {
		return b.findKey(key, typed)
	}
	if b.list.open() && b.listKey(key) {
		return None, true
	}
	if typed != "" {
		if typed == "?" && b.Empty() {
			return None, false
		}
		b.settle()
		b.typing(typed)
		b.complete()
		return None, true
	}
	switch key {
	case "up", "down":
		return None, b.upDown(key)
	case "enter":
		return b.enter()
	case "shift+enter", "alt+enter", "ctrl+j", "alt+shift+enter":
		b.settle()
		b.text.insert("\n")
		b.complete()
		return None, true
	case "ctrl+g":
		return Edit, true
	case "ctrl+r":
		b.findOpen()
		return None, true
	case "tab":
		return None, b.reopen()
	}
	version, at := b.text.version, b.text.at
	taken := b.move(key) || b.erase(key)
	if !taken || b.Empty() && b.text.version == version {
		return None, false
	}
	b.settle()
	if b.text.version != version || b.text.at != at {
		b.complete()
	}
	return None, true
}

// settle resets what lasts only between two presses of Up or Down.
func (b *Box) settle() {
	b.walk.fresh = false
	b.text.goal = -1
}

func (b *Box) typing(s string) {
	at := b.text.at
	b.text.insert(s)
	b.text.open = b.text.at == at+1
	if at == 0 {
		b.text.mark()
	}
}

// enter submits, or turns a `\` before the cursor into a line end. It does not submit a blank text.
func (b *Box) enter() (Intent, bool) {
	if b.Empty() {
		return None, false
	}
	b.settle()
	at := b.text.at
	if at > 0 && b.text.cells[at-1].s == `\` {
		b.text.open = false
		b.text.splice(at-1, at, split("\n"))
		b.complete()
		return None, true
	}
	for _, c := range b.text.cells {
		if !c.space() {
			b.list.close()
			return Submit, true
		}
	}
	return None, true
}

// upDown moves inside the text and, at its edges, through the history. A text that was just recalled is passed in one
// step, however many rows it has.
func (b *Box) upDown(key string) bool {
	by, walk := -1, b.older
	if key == "down" {
		by, walk = 1, b.newer
	}
	b.text.open = false
	taken := false
	if !b.walk.fresh && b.vertical(by) {
		taken = true
	} else if walk() {
		b.text.goal = -1
		taken = true
	}
	if taken {
		b.list.close()
	}
	return taken
}

// move handles the keys that move the cursor.
func (b *Box) move(key string) bool {
	x := &b.text
	switch key {
	case "left":
		x.at = max(0, x.at-1)
	case "right":
		x.at = min(len(x.cells), x.at+1)
	case "home", "ctrl+a":
		x.at = x.lineStart(x.at)
	case "end", "ctrl+e":
		x.at = x.lineEnd(x.at)
	case "ctrl+left", "alt+left", "alt+b":
		x.at = x.wordLeft(x.at)
	case "ctrl+right", "alt+right", "alt+f":
		x.at = x.wordRight(x.at)
	default:
		return false
	}
	x.open = false
	return true
}

// erase handles the keys that delete, undo and restore.
func (b *Box) erase(key string) bool {
	x := &b.text
	switch key {
	case "backspace", "shift+backspace", "ctrl+h":
		x.remove(max(0, x.at-1), x.at)
	case "delete", "ctrl+d":
		x.remove(x.at, min(len(x.cells), x.at+1))
	case "ctrl+k":
		to := x.lineEnd(x.at)
		if to == x.at {
			to = min(len(x.cells), to+1)
		}
		x.cut(x.at, to)
	case "ctrl+u":
		from := x.lineStart(x.at)
		if from == x.at {
			from = max(0, from-1)
		}
		x.cut(from, x.at)
	case "ctrl+w":
		x.cut(x.blankLeft(x.at), x.at)
	case "alt+backspace", "ctrl+backspace":
		x.cut(x.wordLeft(x.at), x.at)
	case "alt+d", "alt+delete", "ctrl+delete":
		x.cut(x.at, x.wordRight(x.at))
	case "ctrl+y":
		x.insertCells(x.kill)
	case "ctrl+_", "ctrl+shift+_", "ctrl+shift+-", "ctrl+/":
		x.undo()
	case "alt+_", "alt+shift+-", "alt+shift+_":
		x.redo()
	default:
		return false
	}
	x.open = false
	return true
}
