package term

import (
	"bytes"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// hands draw on a terminal. They are safe for concurrent use.
type hands struct {
	o Options

	mu     sync.Mutex
	w, h   int
	screen *uv.TerminalRenderer // knows the terminal's content
	queue  bytes.Buffer         // what it has to write
	cells  uv.ScreenBuffer      // the frame
	lines  []string             // of the frame, as they were drawn into cells
	view   tea.View             // to be drawn
	on     tea.View             // the terminal, if held
	stale  bool                 // the terminal may show something else than screen knows
	held   bool                 // the terminal is set as a full screen sets it
	away   bool                 // another program has the terminal
	closed bool
	armed  bool      // a frame is due
	last   time.Time // when the last frame was drawn that no key caused
	late   []byte    // bytes to be written once it is back
	atomic bool      // it shows nothing until an update is whole
	whole  bool      // it treated a grapheme cluster as one character before it was asked to
	shown  bool
}

func newHands(o Options) *hands {
	h := &hands{o: o, w: o.Size[0], h: o.Size[1]}
	h.begin()
	return h
}

// begin knows nothing of the terminal.
func (h *hands) begin() {
	method := h.cells.Method
	h.queue.Reset()
	h.screen = uv.NewTerminalRenderer(&h.queue, h.o.Environ)
	h.screen.SetColorProfile(h.o.Profile)
	h.screen.SetFullscreen(true)
	h.screen.SetRelativeCursor(false)
	h.screen.SetScrollOptim(true)
	h.screen.SetTabStops(-1)
	h.screen.SetWidthMethod(method)
	h.fit()
	h.cells.Method = method
	h.on, h.held = tea.View{}, false
}

// fit makes the frame as large as the terminal, and empty.
func (h *hands) fit() {
	method := h.cells.Method
	h.cells = uv.NewScreenBuffer(max(h.w, 0), max(h.h, 0))
	h.cells.Method = method
	h.lines = make([]string, max(h.h, 0))
	h.cells.Touched = make([]*uv.LineData, len(h.lines))
	h.screen.Resize(h.w, h.h)
	h.stale = true
}

// show draws a view if the last frame that no key caused is old enough. Otherwise it returns after how long to call
// draw. The view that results from a key often follows the key's own frame within a rest.
func (h *hands) show(v tea.View, rest time.Duration) (wait time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.view = v
	if h.same() || h.armed && rest > 0 {
		return 0
	}
	if left := rest - time.Since(h.last); rest > 0 && left > 0 {
		h.armed = true
		return left
	}
	if h.drawLocked(); rest > 0 {
		h.last = time.Now()
	}
	return 0
}

// draw draws the view that was shown last.
func (h *hands) draw() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.armed = false
	h.drawLocked()
	h.last = time.Now()
}

// same reports whether the terminal shows the view.
func (h *hands) same() bool {
	v, on := &h.view, &h.on
	return h.held && !h.stale && v.Content == on.Content && v.MouseMode == on.MouseMode && v.WindowTitle == on.WindowTitle &&
		(v.Cursor == nil) == (on.Cursor == nil) && (v.Cursor == nil || v.Cursor.Position == on.Cursor.Position)
}

func (h *hands) drawLocked() {
	if h.away || h.closed || h.w <= 0 || h.h <= 0 || h.same() {
		return
	}
	var b bytes.Buffer
	if !h.held {
		b.WriteString(h.enter())
	}
	v, on := h.view, h.on
	if v.MouseMode != on.MouseMode {
		b.WriteString(mouse(v.MouseMode))
	}
	if v.WindowTitle != on.WindowTitle {
		b.WriteString(ansi.SetWindowTitle(v.WindowTitle))
	}
	frame := h.frame()
	hide, show := "", ""
	switch {
	case v.Cursor == nil && (on.Cursor != nil || !h.held):
		hide = ansi.ResetModeTextCursorEnable
	case v.Cursor != nil && on.Cursor == nil && h.held:
		show = ansi.SetModeTextCursorEnable
	case v.Cursor != nil && len(frame) > 0 && !h.atomic: // otherwise the cursor visibly jumps about
		hide, show = ansi.ResetModeTextCursorEnable, ansi.SetModeTextCursorEnable
	}
	b.WriteString(hide)
	if h.atomic && len(frame) > 0 {
		b.WriteString(ansi.SetModeSynchronizedOutput)
		b.Write(frame)
		b.WriteString(ansi.ResetModeSynchronizedOutput)
	} else {
		b.Write(frame)
	}
	b.WriteString(show)
	h.on, h.held, h.stale = v, true, false
	h.put(b.Bytes())
	if !h.shown {
		h.shown = true
		if h.o.Shown != nil {
			h.o.Shown()
		}
	}
}

// frame returns the bytes that make the terminal show the view's lines and its cursor. It draws only changed lines
// into cells: splitting a line into cells costs more than comparing it.
func (h *hands) frame() []byte {
	if h.stale {
		h.screen.Erase()
	}
	clear(h.cells.Touched) // the screen leaves them there, as if they had not been
	rest := h.view.Content
	for y := range h.lines {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if line != h.lines[y] {
			h.lines[y] = line
			uv.NewStyledString(line).Draw(h.cells, uv.Rect(0, y, h.w, 1))
		}
	}
	h.screen.Render(h.cells.RenderBuffer)
	if c := h.view.Cursor; c != nil {
		h.screen.MoveTo(c.X, c.Y)
	}
	_ = h.screen.Flush() // to memory
	frame := bytes.Clone(h.queue.Bytes())
	h.queue.Reset()
	return frame
}

// put writes to the terminal, whose owner notices errors.
func (h *hands) put(b []byte) {
	if len(b) > 0 {
		_, _ = h.o.Out.Write(b)
	}
}

// What a full screen sets in a terminal besides the mouse, and its queries.
const (
	modes   = ansi.SetModeAltScreenSaveCursor + ansi.SetModeBracketedPaste + ansi.SetModeFocusEvent + ansi.SetModifyOtherKeys2
	plain   = ansi.ResetModeBracketedPaste + ansi.ResetModeFocusEvent
	noMouse = ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseAnyEvent + ansi.ResetModeMouseExtSgr
)

// set returns what is set for every view, with the keyboard's part.
func (h *hands) set(keyboard string) string {
	s := modes + keyboard
	if h.cells.Method == ansi.GraphemeWidth {
		s += ansi.SetModeUnicodeCore
	}
	return s
}

// enter sets the terminal and asks what it can do.
func (h *hands) enter() string {
	s := ansi.ResetModifyOtherKeys + h.set(ansi.PushKittyKeyboard(1)) + ansi.RequestKittyKeyboard
	if asks(h.o.Environ) {
		s += ansi.RequestModeSynchronizedOutput + ansi.RequestModeUnicodeCore
	}
	return s
}

// leave returns the sequence that undoes enter.
func (h *hands) leave() string {
	if !h.held {
		return ""
	}
	s := ansi.ResetModifyOtherKeys + ansi.PopKittyKeyboard(1) + ansi.CursorPosition(1, h.h) + ansi.ResetModeAltScreenSaveCursor
	if h.on.Cursor == nil {
		s += ansi.SetModeTextCursorEnable
	}
	s += plain
	if h.on.MouseMode != tea.MouseModeNone {
		s += noMouse
	}
	if h.on.WindowTitle != "" {
		s += ansi.SetWindowTitle("")
	}
	if h.cells.Method == ansi.GraphemeWidth && !h.whole {
		s += ansi.ResetModeUnicodeCore
	}
	return s
}

func mouse(m tea.MouseMode) string {
	if m == tea.MouseModeNone {
		return noMouse
	}
	return ansi.SetModeMouseButtonEvent + ansi.SetModeMouseExtSgr
}

// write writes bytes as they are; while the terminal is away they wait.
func (h *hands) write(s string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
	case h.away:
		h.late = append(h.late, s...)
	default:
		h.put([]byte(s))
	}
}

// clear makes the next frame redraw the whole screen.
func (h *hands) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.screen.MoveTo(0, 0)
	h.stale = true
}

// retake sets everything in the terminal again, as if for the first time, and redraws it: what the view needs, and the
// opposite of what it does not need but another program may have left. The stack of keyboard modes has our entry
// already.
func (h *hands) retake() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stale = true
	if !h.held || h.away || h.closed {
		return
	}
	s := h.set(ansi.KittyKeyboard(1, 1)) + noMouse + mouse(h.on.MouseMode) + ansi.SetWindowTitle(h.on.WindowTitle)
	if h.on.Cursor == nil {
		s += ansi.ResetModeTextCursorEnable
	} else {
		s += ansi.SetModeTextCursorEnable
	}
	h.put([]byte(s))
}

// resize sets the terminal's new size.
func (h *hands) resize(w, height int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.w, h.h = w, height; h.cells.Width() != max(w, 0) || h.cells.Height() != max(height, 0) {
		h.fit()
	}
	h.stale = true // terminals move what they show when their size changes
}

// learn handles an answer of the terminal.
func (h *hands) learn(m tea.ModeReportMsg) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case m.Mode == ansi.ModeSynchronizedOutput:
		h.atomic = m.Value == ansi.ModeReset
	case m.Mode == ansi.ModeUnicodeCore && (m.Value == ansi.ModeReset || m.Value == ansi.ModeSet || m.Value == ansi.ModePermanentlySet):
		if h.cells.Method == ansi.GraphemeWidth || h.away || h.closed {
			return
		}
		h.put([]byte(ansi.SetModeUnicodeCore))
		h.cells.Method, h.whole = ansi.GraphemeWidth, m.Value != ansi.ModeReset
		h.screen.SetWidthMethod(ansi.GraphemeWidth)
		h.cells.Clear()
		clear(h.lines) // each must be split into cells again
		h.stale = true // a character that was wider than assumed may have left something
	}
}

// release restores the terminal, until take.
func (h *hands) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.put([]byte(h.leave()))
	h.away, h.held = true, false
}

// take takes the terminal again; the next frame sets its modes and redraws it.
func (h *hands) take() {
	h.mu.Lock()
	defer h.mu.Unlock()
	late := h.late
	if h.away, h.late = false, nil; h.closed {
		return
	}
	h.begin()
	h.drawLocked()
	h.put(late)
}

// close restores the terminal for good.
func (h *hands) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	if !h.away {
		h.put([]byte(h.leave()))
	}
	h.closed = true
}
