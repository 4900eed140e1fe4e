package cli

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestPipes: who can make no socket comes in by pipes, several at once, and is let in by what lies at the door. A call ends
// with the program that made it, and nothing of the pipes is left.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	d := opens(t, dir, true)
	one, kill := d.rings(t)
	two, _ := d.rings(t)
	for _, s := range []*mcp.ClientSession{one, two} {
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "queue", Arguments: json.RawMessage(`{}`)})
		if err != nil || r.Content[0].(*mcp.TextContent).Text != "empty" {
			t.Errorf("%+v, %v", r, err)
		}
		<-d.calls
	}
	if i, err := os.Stat(filepath.Join(dir, token)); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", i, err)
	}
	d.all.Go(func() {
		_, _ = one.CallTool(t.Context(), &mcp.CallToolParams{Name: "queue", Arguments: json.RawMessage(`{"wait":1}`)})
	})
	<-d.calls
	kill()
	if got := <-d.calls; got != "gone" {
		t.Error(got)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if strings.HasSuffix(e.Name(), spoken) || strings.HasSuffix(e.Name(), serverHeard) {
			t.Errorf("%s is left", e.Name())
		}
	}
	d.end() // hears who is there out
	if _, err := two.CallTool(t.Context(), &mcp.CallToolParams{Name: "queue"}); err == nil {
		t.Error("it is open still")
	}
}

// TestPipes_strangers: who does not know what lies at the door stays outside. What is no pipe is not touched.
func TestPipes_strangers(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	opens(t, dir, true)
	if err := os.WriteFile(outside, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	name := strings.Repeat("A", 26)
	for end, at := range map[string]string{spoken: outside, serverHeard: filepath.Join(dir, "x")} {
		if err := os.Symlink(at, filepath.Join(dir, name+end)); err != nil {
			t.Fatal(err)
		}
	}
	bell, err := os.OpenFile(filepath.Join(dir, bell), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer bell.Close()
	for _, line := range []string{name, "../" + name, "", strings.Repeat("long", 4096)} {
		if _, err := io.WriteString(bell, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	w, came, err := ring(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r := bufio.NewReader(w)
	if got, err := r.ReadString('\n'); got != unknown || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := came(); err != nil {
		t.Error(err)
	}
	if _, err := io.WriteString(w, "guessed\n"); err != nil {
		t.Error(err)
	}
	if got, err := r.ReadString('\n'); err != io.EOF {
		t.Errorf("%q, %v", got, err)
	}
	if text, err := os.ReadFile(outside); string(text) != "kept" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); !os.IsNotExist(err) {
		t.Error(err)
	}
	if _, _, err := ring(t.TempDir()); err == nil || !strings.Contains(err.Error(), "come in by pipes") {
		t.Error(err)
	}
	if _, err := hang(dir); err == nil {
		t.Error("two bells")
	}
}
