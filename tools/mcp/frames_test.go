package mcp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func TestReadMessages(t *testing.T) {
	ping := func(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id) }
	for _, c := range []struct {
		line  string
		takes int
		told  string
		fails bool
	}{
		{ping(1), 1, "", false},
		{"[" + ping(1) + " , " + ping(2) + "]", 2, "", false},
		{"[" + ping(1) + ",1]", 1, "", true},
		{"[" + ping(1), 1, "", true},
		{"[]", 0, "", true},
		{"[[]]", 0, "", true},
		{"[" + strings.Repeat(ping(1)+",", maxBatch) + ping(2) + "]", maxBatch, "", true},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"what?"}}`, 0, "it says that it was sent what it does not understand: what?", false},
		{`{"jsonrpc":"2.0","error":{"code":1,"message":"what?"}}`, 0, "it says that it was sent what it does not understand: what?", false},
		{`{"jsonrpc":"2.0","id":{},"error":{"code":1,"message":"what?"}}`, 0, "", true},
		{`words`, 0, "", true},
	} {
		takes, told := 0, ""
		err := readMessages([]byte(c.line), func(jsonrpc.Message) error { takes++; return nil }, func(text string) { told = text })
		if takes != c.takes || told != c.told || (err != nil) != c.fails {
			t.Errorf("%.80s: %d messages, told %q, %v", c.line, takes, told, err)
		}
	}
	stop := fmt.Errorf("no more")
	if err := readMessages([]byte("["+ping(1)+","+ping(2)+"]"), func(jsonrpc.Message) error { return stop }, nil); err != stop {
		t.Error(err)
	}
}

func TestMeant(t *testing.T) {
	for line, is := range map[string]bool{
		`{"jsonrpc":"2.0",`: true, `  "jsonrpc": "2.0",`[2:]: true, `[ {"jsonrpc"`: true,
		`[debug] {"jsonrpc":"2.0"}`: false, `<- {"jsonrpc":"2.0"}`: false, `{"level":"info"}`: false, "[[[": false,
	} {
		if isMessage([]byte(line)) != is {
			t.Errorf("%s: %v", line, !is)
		}
	}
}
